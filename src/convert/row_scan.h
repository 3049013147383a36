/// How far the search for a row's end has come, and where a row is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace leveret::convert {

/// The mark that some programs begin a UTF-8 file with; no part of its first row.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// The place where a row is wrong, and why it is.
struct Fault {
  const char* at = nullptr;  ///< into the row
  const char* what = nullptr;
};

struct QuotedCell {
  std::uint64_t line = 0;    ///< of its opening quote: in the row, from 0; in the source, from 1
  std::uint64_t column = 0;  ///< byte in that line, from 1
  std::uint64_t breaks = 0;  ///< line ends in it
};

/// Value-initialised for a new row.
struct RowScan {
  std::size_t searched = 0;        ///< bytes of the row that need no second look
  std::uint64_t lines_within = 0;  ///< line ends that belong to quoted cells
  std::size_t line_begin = 0;      ///< index of the line that is searched
  bool in_quotes = false;
  std::size_t closed_at = 0;  ///< index after the last closing quote; 0: none
  QuotedCell cell;            ///< the last one that was opened
  QuotedCell longest;         ///< the one with most line ends
  std::uint64_t broken = 0;   ///< cells with line ends
};

/// The index of the `\n` that ends the row which begins at bytes[0], or npos: a row is a line.
inline std::size_t find_line_end(std::string_view bytes, RowScan& scan) {
  const std::size_t end = bytes.find('\n', scan.searched);
  scan.searched = bytes.size();
  return end;
}

}  // namespace leveret::convert
