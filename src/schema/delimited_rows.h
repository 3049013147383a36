/// CSV and TSV: a header with the columns' names, then rows of as many cells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convert/delimited.h"
#include "schema/row_format.h"

namespace leveret::schema {

class DelimitedRows final : public RowFormat {
 public:
  /// `delimiter`, `quoted`: as FormatWord has them.
  DelimitedRows(char delimiter, bool quoted)
      : delimiter_(delimiter), quoted_(quoted), cutter_(delimiter, quoted) {}

  std::size_t find_row_end(std::string_view bytes, convert::RowScan& scan) const override {
    return cutter_.find_row_end(bytes, scan);
  }
  bool has_header() const override { return true; }
  void begin_source() override;
  void read_header(std::string_view row, const FindColumn& find) override;
  bool repeats_header(std::string_view row) const override { return row == header_; }
  bool read(std::string_view text, const FindColumn& find, Row& row,
            convert::Fault& fault) override;

 private:
  const char delimiter_;
  const bool quoted_;
  convert::Delimited cutter_;
  std::string header_;
  std::vector<std::size_t> columns_;  ///< of the source, as `find` has given them
  std::vector<convert::Delimited::Cell> cells_;
};

}  // namespace leveret::schema
