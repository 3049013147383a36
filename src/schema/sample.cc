#include "schema/sample.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "convert/convert_numeric.h"
#include "schema/cell_text.h"
#include "schema/date.h"
#include "schema/number_bins.h"

namespace leveret::schema {
namespace {

constexpr std::size_t kShownBytes = 24;
constexpr double kMostExact = 9007199254740992;  // 2^53

/// A 0 in front of other digits.
bool is_code(std::string_view text) {
  return text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

bool is_date(std::string_view text) {
  constexpr std::chrono::seconds kLeast{1'000'000'000};
  const std::optional<Moment> moment = read_date(text);
  return moment && (text.find('-') != std::string_view::npos || moment->since_1970 >= kLeast);
}

}  // namespace

void Sample::add(const Row& row, const Cell& cell) {
  ++rows_;
  if (cell.type == Cell::Type::kList) {
    ++lists_;
    for (const std::string_view item : row.list(cell)) add_text(trimmed(item));
    return;
  }
  const std::string_view text = trimmed(cell.text);
  if (cell.type == Cell::Type::kMissing || is_missing_number(text)) {
    ++missing_;
    return;
  }
  add_number(text);
  if (dates_ + missing_ + 1 == rows_ && is_date(text)) ++dates_;  // all were, so far
  if (text.find('|') != std::string_view::npos) ++separated_;
  words_ += 1 + static_cast<std::uint64_t>(std::ranges::count(text, ' '));
  add_text(text);
}

void Sample::add_text(std::string_view text) {
  const bool is_new = different_.insert(std::hash<std::string_view>()(text)).second;
  if (is_new && examples_.size() < kExamples) examples_.emplace_back(text.substr(0, kShownBytes));
}

void Sample::add_number(std::string_view text) {
  const std::optional<double> number = convert::read_real(text);
  if (!number) return;
  if (std::floor(*number) == *number) ++whole_;
  if (is_code(text) || std::fabs(*number) > kMostExact) ++codes_;
  if (!numbers_.empty() && *number <= numbers_.back()) ascends_ = false;
  numbers_.push_back(*number);
}

}  // namespace leveret::schema
