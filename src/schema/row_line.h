/// From the values of a row to its line of VW text:
///
///     1 2.5 'tag |age b3:0.250 b4:0.750 |device phone
///
/// Each column that is a feature is a namespace of its own name. A missing category, list or text
/// has no feature, a missing number the feature `NA` (but see Column::missing_feature); a missing
/// label makes a line without one, a missing weight is 1.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "convert/convert_vw.h"
#include "convert/row_scan.h"
#include "schema/row.h"
#include "schema/schema.h"

namespace leveret::schema {

/// One thread.
class RowLine {
 public:
  explicit RowLine(std::shared_ptr<const Schema> schema);

  /// Appends the line of the row, with its end, to `out`. `size`: bytes that the row had. False: a
  /// value is not of its column's kind, as `fault` says, and nothing is appended. `elsewhere`: of
  /// each column, whether another line has its features; null: none has.
  bool append(const Row& row, std::size_t size, std::string& out, convert::Fault& fault,
              const std::vector<bool>* elsewhere = nullptr);
  /// The column whose value it was.
  const Column& bad_column() const { return schema_->columns[bad_]; }

 private:
  struct Feature {
    std::size_t column;
    convert::Prefix prefix;
    std::size_t age_at = Schema::kNone;  ///< column
  };

  // These write, and return nullptr where they have set the fault.
  char* put_label(const Row& row, char* out, convert::Fault& fault);
  char* put_features(const Feature& feature, const Row& row, char* out,
                     convert::Fault& fault) const;
  char* make_room(std::size_t bytes);

  std::shared_ptr<const Schema> schema_;
  std::size_t label_, weight_, tag_;  ///< columns, or Schema::kNone
  std::size_t bad_ = 0;
  std::vector<Feature> features_;
  std::size_t fixed_bytes_ = 0;  ///< of a line, beside those of its values
  std::unique_ptr<char[]> line_;
  std::size_t room_ = 0;  ///< of line_
};

}  // namespace leveret::schema
