#include "convert/convert_csv.h"

#include <algorithm>
#include <bit>
#include <cstring>
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

/// The first `c` in [p, end), or end; eight bytes at a time, as cells are short. The lowest bit of
/// the word is exact, the others may be wrong.
const char* find_byte(const char* p, const char* end, char c) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u, kHigh = 0x8080808080808080u;
  const std::uint64_t pattern = kOnes * static_cast<unsigned char>(c);
  if constexpr (std::endian::native == std::endian::little) {
    for (; end - p >= 8; p += 8) {
      std::uint64_t x = 0;
      std::memcpy(&x, p, 8);
      x ^= pattern;
      std::uint64_t found = (x - kOnes) & ~x & kHigh;
      if (found != 0) return p + std::countr_zero(found) / 8;
    }
  }
  return std::find(p, end, c);
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
    : Converter(std::move(callbacks), max_row), options_(std::move(options)) {}

// --- Columns

bool CsvConverter::take_header(std::string_view row) {
  const bool must_be = options_.columns.empty(), may_be = !options_.header_begins.empty();
  if (must_be && ends_otherwise(row)) throw ConvertError(1, text::kEndsByCarriageReturns);
  Fault fault;
  const bool good = split(row, fault);
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
  for (const Cell& cell : cells_) {
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

/// A quote opens a quoted field where the field begins, or right behind its closing quote (a
/// doubled quote); anywhere else it is an ordinary byte.
bool CsvConverter::is_opening_quote(std::string_view bytes, std::size_t at,
                                    const RowScan& scan) const {
  return at == 0 || bytes[at - 1] == options_.delimiter ||
         (scan.closed_at != 0 && at == scan.closed_at) ||
         (at == kByteOrderMark.size() && bytes.starts_with(kByteOrderMark));
}

/// From within a quoted cell; false: the quote has not come yet.
bool CsvConverter::find_closing_quote(std::string_view bytes, RowScan& scan) {
  const std::size_t from = scan.searched;
  const std::size_t quote = bytes.find('"', from);
  const std::string_view within = bytes.substr(from, quote == kNone ? kNone : quote - from);
  const auto breaks = static_cast<std::uint64_t>(std::count(within.begin(), within.end(), '\n'));
  if (breaks > 0) {
    if (scan.cell.breaks == 0) ++scan.broken;
    scan.lines_within += breaks;
    scan.cell.breaks += breaks;
    scan.line_begin = from + within.rfind('\n') + 1;
    if (scan.cell.breaks > scan.longest.breaks) scan.longest = scan.cell;
  }
  scan.searched = quote == kNone ? bytes.size() : quote + 1;
  if (quote == kNone) return false;
  scan.in_quotes = false;
  scan.closed_at = quote + 1;
  return true;
}

std::size_t CsvConverter::find_row_end(std::string_view bytes, RowScan& scan) const {
  if (!options_.quoted) return Converter::find_row_end(bytes, scan);
  while (scan.searched < bytes.size()) {
    std::size_t from = scan.searched;
    if (scan.in_quotes) {
      if (!find_closing_quote(bytes, scan)) return kNone;
      continue;
    }
    std::size_t end = bytes.find('\n', from);
    std::size_t quote = bytes.substr(0, end).find('"', from);
    while (quote != kNone && !is_opening_quote(bytes, quote, scan)) {
      quote = bytes.substr(0, end).find('"', quote + 1);
    }
    if (quote == kNone) {
      scan.searched = end == kNone ? bytes.size() : end;
      return end;
    }
    // A doubled quote goes on with its cell.
    if (scan.closed_at == 0 || quote != scan.closed_at) {
      const bool marked = scan.line_begin == 0 && bytes.starts_with(kByteOrderMark);
      scan.cell = {scan.lines_within, quote - scan.line_begin + 1, 0};
      if (marked) scan.cell.column -= kByteOrderMark.size();
    }
    scan.in_quotes = true;
    scan.searched = quote + 1;
  }
  return kNone;
}

/// Fills cells_; false: the row's quoting is wrong.
bool CsvConverter::split(std::string_view row, Fault& fault) {
  cells_.clear();
  const char *p = row.data(), *end = p + row.size();
  for (;;) {
    if (options_.quoted && p != end && *p == '"') {
      if (!split_quoted_cell(p, end, fault)) return false;
    } else {
      const char* begin = p;
      p = find_byte(p, end, options_.delimiter);
      cells_.push_back({{begin, static_cast<std::size_t>(p - begin)}, false});
    }
    if (p == end) return true;
    ++p;
  }
}

/// The cell whose opening quote is at p, which moves behind its closing one.
bool CsvConverter::split_quoted_cell(const char*& p, const char* end, Fault& fault) {
  const char* begin = ++p;
  bool doubled = false;
  for (;; p += 2) {
    p = std::find(p, end, '"');
    if (p == end) {
      fault = {begin - 1, "a quote is not closed"};
      return false;
    }
    if (p + 1 == end || p[1] != '"') break;
    doubled = true;
  }
  cells_.push_back({{begin, static_cast<std::size_t>(p - begin)}, doubled});
  ++p;
  if (p == end || *p == options_.delimiter) return true;
  fault = {p, "text behind a closing quote"};
  return false;
}

/// The cell's text with doubled quotes made single; valid until the next call.
std::string_view CsvConverter::plain(const Cell& cell) {
  if (!cell.doubled) return cell.text;
  unquoted_.clear();
  for (std::size_t i = 0; i < cell.text.size(); ++i) {
    unquoted_ += cell.text[i];
    if (cell.text[i] == '"') ++i;
  }
  return unquoted_;
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
  if (!split(row, fault)) return nullptr;
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
