/// The rows and cells of delimited text: RFC 4180 quoting (quoted cells hold delimiters, line ends
/// and doubled quotes) or none, any one-byte delimiter. Knows no header and no columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "convert/row_scan.h"

namespace leveret::convert {

class Delimited {
 public:
  struct Cell {
    std::string_view text;  ///< into the row, without the quotes around it
    bool doubled = false;   ///< quotes within are doubled
    bool quoted = false;    ///< there are quotes around it
  };

  /// `quoted` false: a quote is a byte as any other, and a row is a line.
  Delimited(char delimiter, bool quoted) : delimiter_(delimiter), quoted_(quoted) {}

  /// Index of the `\n` that ends the row which begins at bytes[0], or npos where it is not there
  /// yet; `scan` then remembers how far the search has come.
  std::size_t find_row_end(std::string_view bytes, RowScan& scan) const;
  /// The cells of a row without its line end. False: its quoting is wrong, as `fault` says.
  bool split(std::string_view row, std::vector<Cell>& cells, Fault& fault) const;
  /// The cell's text with doubled quotes made single, in `room` where that is needed.
  static std::string_view plain(const Cell& cell, std::string& room);

 private:
  bool split_quoted_cell(const char*& p, const char* end, std::vector<Cell>& cells,
                         Fault& fault) const;
  static bool find_closing_quote(std::string_view bytes, RowScan& scan);
  bool is_opening_quote(std::string_view bytes, std::size_t at, const RowScan& scan) const;

  char delimiter_;
  bool quoted_;
};

}  // namespace leveret::convert
