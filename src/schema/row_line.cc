#include "schema/row_line.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "convert/convert_numeric.h"
#include "schema/cell_text.h"
#include "schema/date.h"
#include "schema/number_bins.h"
#include "text/example.h"

namespace leveret::schema {
namespace {

constexpr std::size_t kWeightRoom = 32;

/// Why a cell is no number, with the cure where it is a usual one.
const char* not_a_number(std::string_view text) {
  const bool has_digit = text.find_first_of("0123456789") != std::string_view::npos;
  if (has_digit && text.find(',') != std::string_view::npos) {
    return "not a number, as it has a comma: write 1234.5, or make the column a category";
  }
  if (has_digit && text.find_first_of("$%") != std::string_view::npos) {
    return "not a number, as it has a sign of currency or %: write digits alone, or make the "
           "column a category";
  }
  return "not a number in a column of numbers: --column NAME=category takes any value";
}

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'' ||
         static_cast<unsigned char>(c) >= 0x80;
}

char* put_words(std::string_view text, std::uint32_t most, char* out) {
  std::uint32_t words = 0;
  for (std::size_t at = 0; at < text.size() && words < most; ++words) {
    while (at < text.size() && !is_word_byte(text[at])) ++at;
    if (at == text.size()) break;
    if (words > 0) *out++ = ' ';
    for (; at < text.size() && is_word_byte(text[at]); ++at) {
      *out++ = lower(text[at]);
    }
  }
  return out;
}

char* put_item(std::string_view item, const char* begin, char* out) {
  item = trimmed(item);
  if (item.empty()) return out;
  if (out != begin) *out++ = ' ';
  return convert::put_escaped(out, item);
}

char* put_items(const Column& column, const Row& row, const Cell& cell, char* out) {
  const char* const begin = out;
  if (cell.type == Cell::Type::kList) {
    for (const std::string_view item : row.list(cell)) out = put_item(item, begin, out);
    return out;
  }
  std::string_view rest = cell.text;
  for (;;) {
    const std::size_t end = rest.find(column.separator);
    out = put_item(rest.substr(0, end), begin, out);
    if (end == std::string_view::npos) return out;
    rest.remove_prefix(end + 1);
  }
}

bool is_missing(const Cell& cell) {
  return cell.type == Cell::Type::kMissing ||
         (cell.type == Cell::Type::kText && is_missing_number(trimmed(cell.text)));
}

/// A missing value is a feature of numbers alone, and a word for missing one of other kinds.
bool is_without_feature(const Column& column, const Cell& cell) {
  if (!column.missing_feature) return is_missing(cell);
  return cell.type == Cell::Type::kMissing && column.kind != Kind::kNumber;
}

/// `other`: at which its age is told; null: none.
char* put_moment(const Cell& cell, const Cell* other, char* out, convert::Fault& fault) {
  if (is_missing(cell)) return out;
  const std::optional<Moment> moment = read_date(trimmed(cell.text));
  if (!moment) {
    fault = {cell.text.data(),
             "not a date as ISO 8601 has it, such as 2026-03-05T13:45:10+01:00, and not seconds or "
             "milliseconds since 1970"};
    return nullptr;
  }
  out = put_date(out, *moment);
  const auto then =
      other != nullptr && !is_missing(*other) ? read_date(trimmed(other->text)) : std::nullopt;
  if (!then) return out;
  *out++ = ' ';
  return put_age(out, then->since_1970 - moment->since_1970);
}

static_assert(kDateRoom + kAgeRoom <= kNumberRoom);

}  // namespace

RowLine::RowLine(std::shared_ptr<const Schema> schema)
    : schema_(std::move(schema)),
      label_(schema_->find(Kind::kLabel)),
      weight_(schema_->find(Kind::kWeight)),
      tag_(schema_->find(Kind::kTag)),
      fixed_bytes_(convert::kLineRoom + kWeightRoom) {
  for (std::size_t i = 0; i < schema_->columns.size(); ++i) {
    const Column& column = schema_->columns[i];
    if (!column.is_feature()) continue;
    features_.push_back({i, convert::Prefix(column.name), schema_->find(column.age_at)});
    fixed_bytes_ += features_.back().prefix.room() + kNumberRoom;  // or that of a date
  }
}

char* RowLine::make_room(std::size_t bytes) {
  if (bytes > room_) {
    room_ = std::max(bytes, 2 * room_);
    line_ = std::make_unique_for_overwrite<char[]>(room_);
  }
  return line_.get();
}

/// Label and weight.
char* RowLine::put_label(const Row& row, char* out, convert::Fault& fault) {
  if (label_ == Schema::kNone || row.cells[label_].type == Cell::Type::kMissing) return out;
  const Cell& cell = row.cells[label_];
  const std::vector<std::string>& positive = schema_->columns[label_].positive;
  const std::string_view word = trimmed(cell.text);
  const bool is_missing = positive.empty() ? is_missing_number(word) : word.empty();
  if (is_missing && cell.type == Cell::Type::kText) return out;
  std::optional<bool> clicked;
  if (cell.type == Cell::Type::kText) {
    clicked = positive.empty() ? convert::read_label(word)
                               : std::optional(std::ranges::find(positive, word) != positive.end());
  }
  if (!clicked) {
    bad_ = label_;
    fault = {cell.text.data(),
             "the label is not 0 or 1: --column NAME=label:positive=VALUE names the value of a "
             "click"};
    return nullptr;
  }
  out = convert::put(out, *clicked ? "1" : "-1");
  if (weight_ == Schema::kNone) return out;
  const Cell& weight = row.cells[weight_];
  const std::string_view text = trimmed(weight.text);
  if (weight.type == Cell::Type::kList) {
    bad_ = weight_;
    fault = {nullptr, "the weight is a list"};
    return nullptr;
  }
  if (weight.type == Cell::Type::kMissing || is_missing_number(text)) return out;
  const std::optional<double> number = convert::read_real(text);
  if (!number || *number < 0 || static_cast<float>(*number) > text::kMaxImportance) {
    bad_ = weight_;
    fault = {weight.text.data(), "the weight is no number from 0 to 1e12"};
    return nullptr;
  }
  *out++ = ' ';
  return std::to_chars(out, out + kWeightRoom, *number).ptr;
}

char* RowLine::put_features(const Feature& feature, const Row& row, char* out,
                            convert::Fault& fault) const {
  const Column& column = schema_->columns[feature.column];
  const Cell& cell = row.cells[feature.column];
  if (column.kind == Kind::kList) return put_items(column, row, cell, out);
  if (cell.type == Cell::Type::kList) {
    fault = {nullptr, "a list in a column that is none: --column NAME=list takes lists"};
    return nullptr;
  }
  const std::string_view text = trimmed(cell.text);
  if (column.kind == Kind::kCategory) return convert::put_escaped(out, text);
  if (column.kind == Kind::kText) return put_words(text, column.words, out);
  if (column.kind == Kind::kDate) {
    const Cell* const other =
        feature.age_at != Schema::kNone ? &row.cells[feature.age_at] : nullptr;
    return put_moment(cell, other, out, fault);
  }
  if (is_missing(cell)) return convert::put(out, kMissingFeature);
  const std::optional<double> number = convert::read_real(text);
  if (!number) {
    fault = {cell.text.data(), not_a_number(text)};
    return nullptr;
  }
  if (column.is_open()) return out;  // nobody has learned a number of it
  return put_number(out, column, *number);
}

bool RowLine::append(const Row& row, std::size_t size, std::string& out, convert::Fault& fault,
                     const std::vector<bool>* elsewhere) {
  char* const line = make_room(fixed_bytes_ + size * convert::kEscapeGrowth);
  char* const label_end = put_label(row, line, fault);
  if (label_end == nullptr) return false;
  char* at = label_end;
  if (tag_ != Schema::kNone && row.cells[tag_].type == Cell::Type::kList) {
    bad_ = tag_;
    fault = {nullptr, "the tag is a list"};
    return false;
  }
  if (tag_ != Schema::kNone && row.cells[tag_].type == Cell::Type::kText) {
    at = convert::put_escaped(convert::put(at, " '"), trimmed(row.cells[tag_].text));
  }
  char* const head_end = at;
  for (const Feature& feature : features_) {
    const Column& column = schema_->columns[feature.column];
    const Cell& cell = row.cells[feature.column];
    if (is_without_feature(column, cell)) continue;
    if (elsewhere != nullptr && (*elsewhere)[feature.column]) continue;
    char* const begin = feature.prefix.write(at);
    char* const end = put_features(feature, row, begin, fault);
    if (end == nullptr) {
      bad_ = feature.column;
      return false;
    }
    if (end != begin) at = end;  // else nothing is there
  }
  if (at == head_end) at = convert::put(at, " |");
  out.append(line, convert::end_line(line, label_end, at));
  return true;
}

}  // namespace leveret::schema
