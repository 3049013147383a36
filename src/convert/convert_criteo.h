/// The display advertising sets of Criteo (the Kaggle challenge and the terabyte logs): one row a
/// line, tab separated: label, 13 integer columns, 26 columns of hashed categories; empty cells are
/// missing. Test files lack the label.
#pragma once

#include <string>
#include <vector>

#include "convert/convert_numeric.h"
#include "convert/convert_rows.h"
#include "convert/convert_vw.h"

namespace leveret::convert {

/// Columns become the namespaces I1..I13 and C1..C26. Whether rows have labels is known by the
/// number of columns in a source's first row.
class CriteoConverter : public Converter {
 public:
  CriteoConverter(NumericForm form, ConvertCallbacks callbacks, std::size_t max_row = kMaxRow);

 protected:
  bool take_header(std::string_view row) override;
  std::size_t room(std::size_t row_bytes) const override;
  char* convert_row(std::string_view row, char* out, Fault& fault) override;

 private:
  static constexpr int kIntegers = 13, kCategories = 26, kColumns = kIntegers + kCategories;

  NumericForm form_;
  bool labelled_ = true;
  std::vector<Prefix> prefixes_;
};

}  // namespace leveret::convert
