#include "text/convert_csv.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace leveret::text {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Index of a column, or an exception that names those there are.
std::size_t find_column(const std::vector<std::string>& names, std::string_view name) {
  auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  std::string all;
  for (const std::string& n : names) {
    all += (all.empty() ? "" : ", ") + n;
    if (all.size() > 500) break;
  }
  throw ConvertError(1, "there is no column '" + std::string(name) + "'; the columns are: " + all);
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
  Fault fault;
  if (!split(row, fault)) throw ConvertError(1, fault.what);
  std::vector<std::string> names;
  for (const Cell& cell : cells_) names.emplace_back(plain(cell));
  bool header = options_.columns.empty() ||
                (!options_.header_begins.empty() && names[0] == options_.header_begins);
  if (!header) {
    std::size_t found = names.size();
    names = options_.columns;
    bool label_lacks = found + 1 == names.size();
    if (label_lacks && options_.labels == CsvOptions::Labels::kIfThere) {
      std::erase(names, options_.label);
    }
  } else {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty()) names[i] = "column" + std::to_string(i + 1);
    }
  }
  plan(names);
  return header;
}

void CsvConverter::plan(const std::vector<std::string>& names) {
  width_ = names.size();
  plan_label(names);
  std::vector<std::size_t> ignored = find_columns(names, options_.ignore);
  std::vector<std::size_t> numeric = find_columns(names, options_.numeric);
  features_.clear();
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
  }
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
    label_ = find_column(names, name);
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

std::size_t CsvConverter::find_row_end(std::string_view bytes, RowScan& scan) const {
  while (scan.searched < bytes.size()) {
    std::size_t from = scan.searched;
    if (scan.in_quotes) {
      std::size_t quote = bytes.find('"', from);
      std::size_t stop = std::min(quote, bytes.size());
      scan.lines_within += static_cast<std::uint64_t>(
          std::count(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                     bytes.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
      scan.searched = std::min(stop + 1, bytes.size());
      if (quote == kNone) return kNone;
      scan.in_quotes = false;
      scan.closed_at = quote + 1;
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
    if (p != end && *p == '"') {
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
      if (p != end && *p != options_.delimiter) {
        fault = {p, "text behind a closing quote"};
        return false;
      }
    } else {
      const char* begin = p;
      p = find_byte(p, end, options_.delimiter);
      cells_.push_back({{begin, static_cast<std::size_t>(p - begin)}, false});
    }
    if (p == end) return true;
    ++p;
  }
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

bool CsvConverter::read_clicked(std::string_view text, bool& clicked) const {
  if (!options_.positive.empty()) {
    clicked = contains(options_.positive, text);
    return !text.empty();
  }
  std::optional<bool> label = read_label(trim(text));
  clicked = label.value_or(false);
  return label.has_value();
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
  if (labelled_) {
    bool clicked = false;
    if (!read_clicked(plain(cells_[label_]), clicked)) {
      fault = {cells_[label_].text.data(), "the label is missing or not 0 or 1"};
      return nullptr;
    }
    out = label_end = put(out, clicked ? "1" : "-1");
  }
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
  return end_line(line, label_end, out);
}

}  // namespace leveret::text
