/// From raw rows to lines of VW text, by a schema that is made on the way: columns get their kinds,
/// and numbers their bins, by the first rows that have values for them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "convert/row_scan.h"
#include "schema/names.h"
#include "schema/row_format.h"
#include "schema/row_line.h"
#include "schema/sample.h"
#include "schema/schema.h"

namespace leveret::schema {

/// A column whose kind or bins have just been chosen, and by which values.
struct ColumnFacts {
  Column column;
  std::string why;
  std::vector<std::string> examples;
  std::uint64_t rows = 0, missing = 0, different = 0;
};

struct RowOptions {
  FormatWord format;
  /// Columns of a new schema as they are wanted; those of other names are guessed.
  std::vector<Column> given;
  bool needs_label = false;  ///< where no column is the label, nothing is read
  bool decides = true;       ///< false: columns that are open stay so, and have no features
  /// While columns are open, so many rows are looked at before the first of them is converted, or
  /// those that are there when the source ends; or pauses, and `patience` with it since the first
  /// of them was waited for. A source's first window has no fewer than `least_rows`; later ones
  /// have a patience of their own.
  std::uint64_t window_rows = 10'000;
  std::uint64_t least_rows = 100;
  std::chrono::milliseconds patience{1000}, later_patience{1000};
  /// Fewer numbers than this have no quantiles: NumberForm::kLog2 in place of kLinear.
  std::uint64_t least_numbers = 30;
  /// What is chosen, in the order of the columns. In the thread that reads; may be empty.
  std::function<void(const std::vector<ColumnFacts>&)> decided = {};
  /// Told once: a column that the schema lacks, and one of it that a source lacks. Likewise.
  std::function<void(const std::string&)> remark = {};
};

/// The way that a stream of raw rows is read.
struct RowInput {
  RowOptions options;
  std::shared_ptr<SharedSchema> schema;  ///< what is known before, and becomes known
};

/// One thread. Who calls it finds the rows (find_row_end), gives the first row of a source to
/// take_header where one is due, and while is_open() lets rows be looked at, by the window, before
/// the first of them is converted. So no value of an open column is converted, and the rows of a
/// source become the same lines wherever its reading resumes.
class RowReader {
 public:
  /// `schema`: what is known before; it becomes what is known now.
  RowReader(RowOptions options, std::shared_ptr<SharedSchema> schema);

  const RowOptions& options() const { return options_; }

  void start_source();
  /// A row's `\n`, as convert::Delimited::find_row_end.
  std::size_t find_row_end(std::string_view bytes, convert::RowScan& scan) const {
    return format_->find_row_end(bytes, scan);
  }
  /// The source's next row that is not blank is its header.
  bool wants_header() const { return wants_header_; }
  /// std::runtime_error says what is wrong; it knows neither source nor line.
  void take_header(std::string_view row);

  /// Whether rows are to be looked at, as some column waits for its values.
  bool is_open() const { return grows_ || waits_; }
  /// Whether so few rows are no window yet, should the source pause behind them.
  bool wants_more(std::uint64_t rows) const {
    return rows < (first_ && is_open() ? options_.least_rows : 1);
  }
  /// How long rows of a window wait for others, since the first was waited for.
  std::chrono::milliseconds patience() const {
    return first_ ? options_.patience : options_.later_patience;
  }
  /// Bad rows are passed over; convert() finds them again.
  void look_at(std::string_view row);
  /// Decides by what was looked at. std::runtime_error as take_header.
  void decide();

  /// Reads on by the shared schema, where that has become another one with the same columns, as
  /// when a model is replaced. For who does not decide.
  void follow();
  enum class Made { kLine, kBlank, kBad };
  /// Appends the row's line to `out`; nothing where the row is blank or the header once more, or
  /// bad, as `fault` says.
  Made convert(std::string_view row, std::string& out, convert::Fault& fault);
  /// The source has ended: tells which columns its rows lacked, where no header has.
  void end_source();

 private:
  std::size_t find_column(std::string_view name);
  void add_column(Column column);
  Column new_column(const std::string& name) const;
  void take_given();
  void check_wanted() const;
  void check_label_names() const;
  void tell_missing() const;
  void check_source() const;
  [[noreturn]] void refuse_without_label() const;
  const Column* find_given(std::string_view name) const;
  bool read(std::string_view text, convert::Fault& fault);
  std::optional<ColumnFacts> decide(std::size_t column);
  void choose_edges(Column& column, const Sample& sample) const;
  void publish();
  void use(std::shared_ptr<const Schema> known);
  std::string names() const;
  void remark(const std::string& text) const;

  RowOptions options_;
  std::shared_ptr<SharedSchema> shared_;
  Schema schema_;
  /// Columns by their names.
  NameMap<std::size_t> index_;
  std::vector<Sample> samples_;  ///< of columns; used of open ones
  std::uint64_t looked_at_ = 0;  ///< rows of the window
  bool grows_;                   ///< any new column is welcome
  bool waits_ = false;           ///< some column is open, and is to be decided
  bool first_ = true;            ///< nothing of the source is decided yet
  std::vector<bool> named_;      ///< columns that the source has
  std::uint64_t rows_ = 0;       ///< of the source, converted while named_ is kept of them
  bool has_label_;               ///< some column is the label, or is wanted as it
  bool wants_header_ = false;
  std::unique_ptr<RowFormat> format_;
  FindColumn find_;
  Row row_;
  std::shared_ptr<const Schema> known_;  ///< the one that line_ has
  std::optional<RowLine> line_;
  std::unordered_set<std::string> unknown_;  ///< columns that the schema lacks, told
};

/// The row without its line end and the mark that a source may begin with.
std::string_view plain_row(std::string_view row);

}  // namespace leveret::schema
