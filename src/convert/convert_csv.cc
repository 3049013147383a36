#include "convert/convert_csv.h"

#include <algorithm>
#include <optional>

#include "text/carriage_returns.h"

namespace leveret::convert {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Index of a column, or an exception that names those there are, with an advice before them.
std::size_t find_column(const std::vector<std::string>& names, std::string_view name,
                        const std::string& advice = "") {
  auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  std::string all;
  for (const std::string& n : names) {
    all += (all.empty() ? "" : ", ") + n;
    if (all.size() > 500) break;
  }
  throw ConvertError(
      1, "there is no column '" + std::string(name) + "'" + advice + "; the columns are: " + all);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// A word is a column, or several with commas between them.
std::vector<std::size_t> find_columns(const std::vector<std::string>& names,
                                      const std::vector<std::string>& words) {
  std::vector<std::size_t> found;
  for (std::string_view word : words) {
    if (contains(names, word)) {
      found.push_back(find_column(names, word));
      continue;
    }
    while (true) {
      std::size_t comma = word.find(',');
      found.push_back(find_column(names, word.substr(0, comma)));
      if (comma == kNone) break;
      word.remove_prefix(comma + 1);
    }
  }
  return found;
}

}  // namespace

CsvConverter::CsvConverter(CsvOptions options, ConvertCallbacks callbacks, std::size_t max_row)
    : Converter(std::move(callbacks), max_row),
      options_(std::move(options)),
      cutter_(options_.delimiter, options_.quoted) {}

// --- Columns

bool CsvConverter::take_header(std::string_view row) {
  const bool must_be = options_.columns.empty(), may_be = !options_.header_begins.empty();
  if (must_be && ends_otherwise(row)) throw ConvertError(1, text::kEndsByCarriageReturns);
  Fault fault;
  const bool good = cutter_.split(row, cells_, fault);
  const std::optional<char> likelier = likelier_delimiter(row, options_.delimiter, cells_.size());
  const std::string advice = likelier && options_.advises ? delimiter_advice(*likelier) : "";
  if (!good && (must_be || may_be)) {
    throw ConvertError(1, fault.what + advice,
                       static_cast<std::uint64_t>(fault.at - row.data()) + 1);
  }
  const bool header = must_be || (may_be && plain(cells_[0]) == options_.header_begins);
  header_.assign(header ? row : std::string_view());
  try {
    plan(header ? names_of_cells() : names_without_header());
  } catch (const ConvertError& error) {
    throw ConvertError(error.line(), error.what() + advice);
  }
  if (likelier && cells_.size() == 1 && (header || width_ > 1)) {
    remark({1, 0, "the row is a single column" + advice});
  }
  return header;
}

std::vector<std::string> CsvConverter::names_of_cells() {
  std::vector<std::string> names;
  for (const Delimited::Cell& cell : cells_) {
    names.emplace_back(plain(cell));
    if (names.back().empty()) names.back() = "column" + std::to_string(names.size());
  }
  return names;
}

/// For rows as the one at hand.
std::vector<std::string> CsvConverter::names_without_header() const {
  std::vector<std::string> names = options_.columns;
  const bool label_lacks = cells_.size() + 1 == names.size();
  if (label_lacks && options_.labels == CsvOptions::Labels::kIfThere) {
    std::erase(names, options_.label);
  }
  return names;
}

void CsvConverter::plan(const std::vector<std::string>& names) {
  width_ = names.size();
  plan_label(names);
  std::vector<std::size_t> ignored = find_columns(names, options_.ignore);
  std::vector<std::size_t> numeric = find_columns(names, options_.numeric);
  features_.clear();
  categories_.clear();
  std::vector<std::string> names_of_categories;
  prefix_bytes_ = 0;
  auto has = [](const std::vector<std::size_t>& list, std::size_t i) {
    return std::find(list.begin(), list.end(), i) != list.end();
  };
  for (std::size_t i = 0; i < width_; ++i) {
    if ((labelled_ && i == label_) || has(ignored, i)) continue;
    Kind kind = has(numeric, i)                                       ? Kind::kNumber
                : !options_.hour.empty() && names[i] == options_.hour ? Kind::kHour
                                                                      : Kind::kCategory;
    features_.push_back({i, kind, Prefix(names[i])});
    prefix_bytes_ += features_.back().prefix.room() + kNumericRoom;
    if (kind != Kind::kCategory) continue;
    categories_.push_back(i);
    names_of_categories.push_back(names[i]);
  }
  if (options_.advises) numbers_.start(std::move(names_of_categories));
}

void CsvConverter::plan_label(const std::vector<std::string>& names) {
  labelled_ = options_.labels != CsvOptions::Labels::kNone;
  if (!labelled_) return;
  std::string name = options_.label;
  if (name.empty())
    name = contains(names, "label") || !contains(names, "click") ? "label" : "click";
  if (options_.labels == CsvOptions::Labels::kIfThere && !contains(names, name)) {
    labelled_ = false;
  } else {
    label_ = find_column(names, name,
                         options_.advises ? "; --label NAME names the label's column, --no_label "
                                            "is for rows without a label"
                                          : "");
  }
}

// --- Rows and cells

std::size_t CsvConverter::find_row_end(std::string_view bytes, RowScan& scan) const {
  return cutter_.find_row_end(bytes, scan);
}

/// The cell's text; valid until the next call.
std::string_view CsvConverter::plain(const Delimited::Cell& cell) {
  return Delimited::plain(cell, unquoted_);
}

// --- Conversion

std::size_t CsvConverter::room(std::size_t row_bytes) const {
  return kLineRoom + row_bytes * kEscapeGrowth + prefix_bytes_;
}

bool CsvConverter::is_missing(std::string_view text) const {
  return text.empty() || (!options_.missing.empty() && contains(options_.missing, text));
}

CsvConverter::Label CsvConverter::read_label_cell(std::string_view text) const {
  const std::string_view word = trim(text);
  if (contains(options_.positive, text) || contains(options_.positive, word)) {
    return Label::kPositive;
  }
  if (is_missing(text) || is_missing(word)) return Label::kNone;
  if (!options_.positive.empty()) return Label::kNegative;
  const std::optional<bool> clicked = read_label(word);
  if (!clicked) return Label::kUnknown;
  return *clicked ? Label::kPositive : Label::kNegative;
}

/// Writes a cell that is not missing; nullptr and `what` when it does not suit its column.
char* CsvConverter::put_cell(char* out, const Column& column, std::string_view text,
                             const char*& what) const {
  if (column.kind == Kind::kCategory) return put_escaped(column.prefix.write(out), text);
  if (column.kind == Kind::kNumber) {
    std::optional<double> v = read_real(trim(text));
    what = "not a number in a numeric column";
    return v ? put_real(out, column.prefix, *v, options_.form) : nullptr;
  }
  what = "not an hour as YYMMDDHH";
  bool digits = text.size() == 8 &&
                std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || text.substr(6) > "23") return nullptr;
  return put(column.prefix.write(out), text.substr(6));
}

char* CsvConverter::convert_row(std::string_view row, char* out, Fault& fault) {
  if (!cutter_.split(row, cells_, fault)) return nullptr;
  if (cells_.size() != width_) {
    bool few = cells_.size() < width_;
    fault = {few ? row.data() + row.size() : cells_[width_].text.data(),
             few ? "too few columns" : "too many columns"};
    return nullptr;
  }
  char *line = out, *label_end = out;
  const Label label = labelled_ ? read_label_cell(plain(cells_[label_])) : Label::kNone;
  if (label == Label::kUnknown) {
    fault = {cells_[label_].text.data(), "the label is not 0 or 1"};
    return nullptr;
  }
  if (label != Label::kNone) out = label_end = put(out, label == Label::kPositive ? "1" : "-1");
  for (const Column& column : features_) {
    std::string_view text = plain(cells_[column.index]);
    if (is_missing(text)) continue;
    const char* what = nullptr;
    out = put_cell(out, column, text, what);
    if (out == nullptr) {
      fault = {cells_[column.index].text.data(), what};
      return nullptr;
    }
  }
  if (labelled_ && label == Label::kNone) count_unlabelled();
  if (numbers_.wants_more()) look_for_numbers();
  return end_line(line, label_end, out);
}

void CsvConverter::look_for_numbers() {
  for (std::size_t i = 0; i < categories_.size(); ++i) {
    const std::string_view text = plain(cells_[categories_[i]]);
    if (!is_missing(text)) numbers_.add(i, trim(text));
  }
  numbers_.end_row();
  if (!numbers_.wants_more()) remark_on_rows();
}

void CsvConverter::remark_on_rows() {
  const std::string names = numbers_.finish();
  if (names.empty()) return;
  remark({0, 0,
          "these columns of numbers become categories, one feature for each different number: " +
              names + "; if they are amounts, --numeric " + names + " makes buckets of them"});
}

bool CsvConverter::ends_otherwise(std::string_view row) const {
  return text::ends_by_carriage_returns(row, options_.quoted);
}

}  // namespace leveret::convert
