#include "convert/csv_advice.h"

#include <algorithm>

#include "convert/convert_numeric.h"

namespace leveret::convert {
namespace {

constexpr std::string_view kUsualDelimiters = ",\t;|\x01";

/// Codes have leading zeros and many digits; amounts do not.
bool is_amount(std::string_view cell) {
  const std::size_t digits = cell.find_first_of("0123456789");
  const bool leading_zero = digits != std::string_view::npos && cell[digits] == '0' &&
                            digits + 1 < cell.size() && cell[digits + 1] >= '0' &&
                            cell[digits + 1] <= '9';
  const bool whole = cell.find_first_of(".eE") == std::string_view::npos;
  return !leading_zero && (!whole || cell.size() < 16) && read_real(cell).has_value();
}

}  // namespace

std::optional<char> likelier_delimiter(std::string_view row, char delimiter, std::size_t columns) {
  std::optional<char> likelier;
  std::size_t most = columns;
  for (const char c : kUsualDelimiters) {
    const auto made = static_cast<std::size_t>(std::count(row.begin(), row.end(), c)) + 1;
    if (c == delimiter || made <= most) continue;
    most = made;
    likelier = c;
  }
  return likelier;
}

std::string delimiter_advice(char delimiter) {
  if (delimiter == '\t') return "; if tabs separate the columns, add --delimiter tab";
  const std::string shell = delimiter == '\x01' ? "$'\\x01'" : std::string("'") + delimiter + "'";
  return "; if " + shell + " separates the columns, add --delimiter " + shell;
}

void NumberColumns::start(std::vector<std::string> names) {
  columns_.clear();
  for (std::string& name : names) columns_.push_back({std::move(name)});
  rows_ = 0;
}

void NumberColumns::add(std::size_t column, std::string_view cell) {
  Column& c = columns_[column];
  if (!c.numbers) return;
  if (!is_amount(cell)) {
    c.numbers = false;
    c.different.clear();
    return;
  }
  c.whole = c.whole && cell.find_first_of(".eE") == std::string_view::npos;
  if (c.different.size() > kWhole || c.different.contains(cell)) return;
  c.different.emplace(cell);
}

std::string NumberColumns::finish() {
  std::string names;
  for (const Column& c : columns_) {
    if (!c.numbers || c.different.size() <= (c.whole ? kWhole : kFractions)) continue;
    if (told_.insert(c.name).second) names += (names.empty() ? "" : ",") + c.name;
  }
  columns_.clear();
  return names;
}

}  // namespace leveret::convert
