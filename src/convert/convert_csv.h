/// Delimited text with named columns: RFC 4180 quoting (quoted fields hold delimiters, line ends
/// and doubled quotes) or none, any one-byte delimiter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convert/convert_numeric.h"
#include "convert/convert_rows.h"
#include "convert/convert_vw.h"
#include "convert/csv_advice.h"
#include "convert/delimited.h"

namespace leveret::convert {

struct CsvOptions {
  char delimiter = ',';
  bool quoted = true;  ///< false: a quote is a byte as any other, and a row is a line
  /// Names of the columns when the source has no header line; else empty.
  std::vector<std::string> columns;
  /// Not empty: `columns` hold unless the first row begins with this name, which makes it a header.
  std::string header_begins;
  /// The label's column; empty: the one called `label` or `click`.
  std::string label;
  enum class Labels { kRequired, kIfThere, kNone } labels = Labels::kRequired;
  std::vector<std::string> positive;  ///< label values that are a click; empty: see read_label
  std::vector<std::string> ignore;    ///< columns that are no features
  std::vector<std::string> numeric;   ///< numeric columns; a name may be several, comma separated
  /// Cell values that mean missing, besides the empty one, in the label's column, too.
  std::vector<std::string> missing;
  /// Whether messages advise options of `convert csv`; a format of fixed columns has none.
  bool advises = true;
  /// A column of times as YYMMDDHH, of which the hour of the day becomes the feature; empty: none.
  std::string hour;
  NumericForm form = NumericForm::kLog2Bucket;
};

/// Each column becomes a namespace of its own name (an unnamed one is `column` and its number), its
/// cell the feature. Missing cells make no feature, a missing label makes a line without one.
/// Throws when a source's header lacks a column that the options name.
class CsvConverter : public Converter {
 public:
  CsvConverter(CsvOptions options, ConvertCallbacks callbacks, std::size_t max_row = kMaxRow);

 protected:
  bool take_header(std::string_view row) override;
  bool repeats_header(std::string_view row) const override { return row == header_; }
  bool ends_otherwise(std::string_view row) const override;
  std::size_t room(std::size_t row_bytes) const override;
  char* convert_row(std::string_view row, char* out, Fault& fault) override;
  std::size_t find_row_end(std::string_view bytes, RowScan& scan) const override;
  void remark_on_rows() override;

 private:
  enum class Kind { kCategory, kNumber, kHour };
  struct Column {
    std::size_t index;
    Kind kind;
    Prefix prefix;
  };

  enum class Label { kNone, kNegative, kPositive, kUnknown };

  std::vector<std::string> names_of_cells();
  std::vector<std::string> names_without_header() const;
  void plan(const std::vector<std::string>& names);
  void plan_label(const std::vector<std::string>& names);
  bool is_missing(std::string_view text) const;
  Label read_label_cell(std::string_view text) const;
  void look_for_numbers();
  std::string_view plain(const Delimited::Cell& cell);
  char* put_cell(char* out, const Column& column, std::string_view text, const char*& what) const;

  CsvOptions options_;
  Delimited cutter_;
  std::string header_;     ///< the source's; empty: none
  std::size_t width_ = 0;  ///< columns of the source
  std::size_t label_ = 0;
  bool labelled_ = true;
  std::vector<Column> features_;
  NumberColumns numbers_;                ///< of the categories
  std::vector<std::size_t> categories_;  ///< columns, as numbers_ counts them
  std::size_t prefix_bytes_ = 0;
  std::vector<Delimited::Cell> cells_;
  std::string unquoted_;
};

}  // namespace leveret::convert
