#include "schema/delimited_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "convert/convert_numeric.h"
#include "convert/csv_advice.h"
#include "schema/cell_text.h"
#include "schema/schema.h"
#include "text/carriage_returns.h"

namespace leveret::schema {
namespace {

/// A comma, unless there is none and another usual byte parts the header.
char delimiter_of(std::string_view header) {
  const auto commas = static_cast<std::size_t>(std::ranges::count(header, ','));
  if (commas > 0) return ',';
  return convert::likelier_delimiter(header, ',', 1).value_or(',');
}

}  // namespace

void DelimitedRows::begin_source() {
  header_.clear();
  // Until the header has told it. Names with line ends in quotes are found by a comma alone.
  if (delimiter_ == '\0') cutter_ = convert::Delimited(',', quoted_);
}

void DelimitedRows::read_header(std::string_view row, const FindColumn& find) {
  if (text::ends_by_carriage_returns(row, quoted_)) {
    throw std::runtime_error(text::kEndsByCarriageReturns);
  }
  if (delimiter_ == '\0') cutter_ = convert::Delimited(delimiter_of(row), quoted_);
  convert::Fault fault;
  if (!cutter_.split(row, cells_, fault)) throw std::runtime_error(fault.what);
  if (cells_.size() > kMostColumns) {
    throw std::runtime_error(
        fmt::format("the header has {} columns, more than {}", cells_.size(), kMostColumns));
  }
  header_ = row;
  columns_.clear();
  std::unordered_set<std::string> names;
  std::string room;
  std::size_t numbers = 0;
  for (const convert::Delimited::Cell& cell : cells_) {
    std::string name(trimmed(convert::Delimited::plain(cell, room)));
    if (convert::read_real(name)) ++numbers;
    if (name.empty()) name = fmt::format("column{}", columns_.size() + 1);
    if (!names.insert(name).second) {
      throw std::runtime_error(fmt::format("two columns are called '{}'", name));
    }
    columns_.push_back(find(name));
  }
  if (numbers == cells_.size()) {
    throw std::runtime_error(
        "the first row has numbers alone, and is to name the columns: put a header before it");
  }
}

bool DelimitedRows::read(std::string_view text, const FindColumn& /*find*/, Row& row,
                         convert::Fault& fault) {
  if (!cutter_.split(text, cells_, fault)) return false;
  if (cells_.size() != columns_.size()) {
    const bool few = cells_.size() < columns_.size();
    fault = {few ? text.data() + text.size() : cells_[columns_.size()].text.data(),
             few ? "too few columns" : "too many columns"};
    return false;
  }
  row.room.clear();
  row.room.reserve(text.size());  // views into it stay
  std::string plain;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (columns_[i] == Schema::kNone) continue;
    std::string_view value = cells_[i].text;
    if (cells_[i].doubled) {
      const std::size_t begin = row.room.size();
      row.room += convert::Delimited::plain(cells_[i], plain);
      value = std::string_view(row.room).substr(begin);
    }
    if (trimmed(value).empty()) continue;
    Cell& cell = row.cells[columns_[i]];
    cell.type = Cell::Type::kText;
    cell.text = value;
  }
  return true;
}

}  // namespace leveret::schema
