#include "convert/delimited.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace leveret::convert {
namespace {

constexpr std::size_t kNotFound = std::string_view::npos;

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

}  // namespace

/// A quote opens a quoted field where the field begins, or right behind its closing quote (a
/// doubled quote); anywhere else it is an ordinary byte.
bool Delimited::is_opening_quote(std::string_view bytes, std::size_t at,
                                 const RowScan& scan) const {
  return at == 0 || bytes[at - 1] == delimiter_ || (scan.closed_at != 0 && at == scan.closed_at) ||
         (at == kByteOrderMark.size() && bytes.starts_with(kByteOrderMark));
}

/// From within a quoted cell; false: the quote has not come yet.
bool Delimited::find_closing_quote(std::string_view bytes, RowScan& scan) {
  const std::size_t from = scan.searched;
  const std::size_t quote = bytes.find('"', from);
  const std::string_view within = bytes.substr(from, quote == kNotFound ? kNotFound : quote - from);
  const auto breaks = static_cast<std::uint64_t>(std::count(within.begin(), within.end(), '\n'));
  if (breaks > 0) {
    if (scan.cell.breaks == 0) ++scan.broken;
    scan.lines_within += breaks;
    scan.cell.breaks += breaks;
    scan.line_begin = from + within.rfind('\n') + 1;
    if (scan.cell.breaks > scan.longest.breaks) scan.longest = scan.cell;
  }
  scan.searched = quote == kNotFound ? bytes.size() : quote + 1;
  if (quote == kNotFound) return false;
  scan.in_quotes = false;
  scan.closed_at = quote + 1;
  return true;
}

std::size_t Delimited::find_row_end(std::string_view bytes, RowScan& scan) const {
  if (!quoted_) return find_line_end(bytes, scan);
  while (scan.searched < bytes.size()) {
    std::size_t from = scan.searched;
    if (scan.in_quotes) {
      if (!find_closing_quote(bytes, scan)) return kNotFound;
      continue;
    }
    std::size_t end = bytes.find('\n', from);
    std::size_t quote = bytes.substr(0, end).find('"', from);
    while (quote != kNotFound && !is_opening_quote(bytes, quote, scan)) {
      quote = bytes.substr(0, end).find('"', quote + 1);
    }
    if (quote == kNotFound) {
      scan.searched = end == kNotFound ? bytes.size() : end;
      return end;
    }
    // A doubled quote continues its cell.
    if (scan.closed_at == 0 || quote != scan.closed_at) {
      const bool marked = scan.line_begin == 0 && bytes.starts_with(kByteOrderMark);
      scan.cell = {scan.lines_within, quote - scan.line_begin + 1, 0};
      if (marked) scan.cell.column -= kByteOrderMark.size();
    }
    scan.in_quotes = true;
    scan.searched = quote + 1;
  }
  return kNotFound;
}

/// Fills cells; false: the row's quoting is wrong.
bool Delimited::split(std::string_view row, std::vector<Cell>& cells, Fault& fault) const {
  cells.clear();
  const char *p = row.data(), *end = p + row.size();
  for (;;) {
    if (quoted_ && p != end && *p == '"') {
      if (!split_quoted_cell(p, end, cells, fault)) return false;
    } else {
      const char* begin = p;
      p = find_byte(p, end, delimiter_);
      cells.push_back({{begin, static_cast<std::size_t>(p - begin)}});
    }
    if (p == end) return true;
    ++p;
  }
}

/// The cell whose opening quote is at p, which moves behind its closing one.
bool Delimited::split_quoted_cell(const char*& p, const char* end, std::vector<Cell>& cells,
                                  Fault& fault) const {
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
  cells.push_back({{begin, static_cast<std::size_t>(p - begin)}, doubled, true});
  ++p;
  if (p == end || *p == delimiter_) return true;
  fault = {p, "text behind a closing quote"};
  return false;
}

std::string_view Delimited::plain(const Cell& cell, std::string& room) {
  if (!cell.doubled) return cell.text;
  room.clear();
  for (std::size_t i = 0; i < cell.text.size(); ++i) {
    room += cell.text[i];
    if (cell.text[i] == '"') ++i;
  }
  return room;
}

}  // namespace leveret::convert
