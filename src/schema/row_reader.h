/// From raw rows to lines of VW text, by a schema that is made on the way: columns get their kinds,
/// and numbers their bins, by the first rows that have values for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "convert/row_scan.h"
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
  /// As a source begins while columns are open, so many rows are looked at, or those that are
  /// there when it ends, or pauses behind `least_rows`; they wait until then.
  std::uint64_t first_rows = 10'000;
  std::uint64_t least_rows = 100;
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
/// take_header where one is due, and lets rows that are read while is_open() be looked at before
/// the first of them is converted.
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
  bool is_open() const { return grows_ || schema_.has_open(); }
  /// Whether these are the first rows of the source, of which many are looked at.
  bool is_first() const { return first_; }
  void look_at(std::string_view row);
  /// Decides by what was looked at. std::runtime_error as take_header.
  void decide();

  enum class Made { kLine, kBlank, kBad };
  /// Appends the row's line to `out`; nothing where the row is blank or the header once more, or
  /// bad, as `fault` says.
  Made convert(std::string_view row, std::string& out, convert::Fault& fault);

 private:
  std::size_t find_column(std::string_view name);
  void add_column(Column column);
  Column new_column(const std::string& name) const;
  void check_given() const;
  void check_wanted() const;
  void check_source(const std::vector<bool>& named) const;
  [[noreturn]] void refuse_without_label() const;
  const Column* find_given(std::string_view name) const;
  bool read(std::string_view text, convert::Fault& fault);
  std::optional<ColumnFacts> decide(std::size_t column);
  void publish();
  std::string names() const;
  void remark(const std::string& text) const;

  RowOptions options_;
  std::shared_ptr<SharedSchema> shared_;
  Schema schema_;
  std::unordered_map<std::string, std::size_t> index_;  ///< columns by their names
  std::vector<Sample> samples_;                         ///< of columns; used of open ones
  bool grows_;                                          ///< any new column is welcome
  bool first_ = true;                                   ///< nothing of the source is decided yet
  bool has_label_;  ///< some column is the label, or is wanted as it
  bool wants_header_ = false;
  std::unique_ptr<RowFormat> format_;
  FindColumn find_;
  Row row_;
  std::optional<RowLine> line_;
  std::unordered_set<std::string> unknown_;  ///< columns that the schema lacks, told
};

/// The row without its line end and the mark that a source may begin with.
std::string_view plain_row(std::string_view row);

}  // namespace leveret::schema
