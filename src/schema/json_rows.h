/// JSON lines: each an object of the columns by their names. Values are strings, numbers, true and
/// false, null (missing), lists of these, and objects, whose members are columns OUTER.INNER.
#pragma once

#include <string_view>

#include "schema/row_format.h"

namespace leveret::schema {

class JsonRows final : public RowFormat {
 public:
  static constexpr std::size_t kMostDepth = 8;  ///< of objects in objects
  /// The fault of a row that is no JSON at all.
  static constexpr const char* kNoJson = "no JSON";

  std::size_t find_row_end(std::string_view bytes, convert::RowScan& scan) const override {
    return convert::find_line_end(bytes, scan);
  }
  bool has_header() const override { return false; }
  void begin_source() override {}
  void read_header(std::string_view, const FindColumn&) override {}
  bool repeats_header(std::string_view) const override { return false; }
  bool read(std::string_view text, const FindColumn& find, Row& row,
            convert::Fault& fault) override;
};

}  // namespace leveret::schema
