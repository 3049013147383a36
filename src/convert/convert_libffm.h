/// libffm (`label field:feature:value ...`) and libsvm / libFM (`label feature:value ...`).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "convert/convert_rows.h"

namespace leveret::convert {

/// Where the fields of feature:value pairs come from, which name none.
struct LibffmFields {
  bool by_position = false;  ///< the n-th feature of a row is of field n
  /// Field names and the first feature number of each, ascending: a feature belongs to the last
  /// field that does not start after it.
  std::vector<std::pair<std::string, std::uint64_t>> starts;
};

/// field:feature:value becomes feature `feature` of the namespace f<field>; feature:value becomes
/// one of the namespace `f` unless LibffmFields says more. Values stay as they are; a value of 0 is
/// no feature. `#` starts a comment.
class LibffmConverter : public Converter {
 public:
  LibffmConverter(LibffmFields fields, ConvertCallbacks callbacks, std::size_t max_row = kMaxRow);

 protected:
  bool take_header(std::string_view) override { return false; }
  std::size_t room(std::size_t row_bytes) const override;
  char* convert_row(std::string_view row, char* out, Fault& fault) override;

 private:
  struct Feature {
    std::string_view field, name, value;  ///< field: empty when not given
  };

  static const char* read_feature(std::string_view token, Feature& feature);
  char* put_field(char* out, const Feature& feature, std::size_t position) const;

  LibffmFields fields_;
  std::size_t longest_name_ = 0;
};

}  // namespace leveret::convert
