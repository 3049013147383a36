/// Input that is no VW text but raw rows: CSV, TSV, JSON. Options about them, the same for every
/// verb, and the schema by which they are read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/input.h"
#include "cli/learn/report_options.h"
#include "model/model.h"
#include "options/cli11_fwd.h"
#include "schema/row_reader.h"

namespace leveret::cli {

/// --column and its short names, for who makes a schema.
struct ColumnFlags {
  std::vector<std::string> columns;  ///< NAME=KIND
  std::string label, tag, weight;
  std::string schema;  ///< a file

  bool given() const { return !columns.empty() || !(label + tag + weight + schema).empty(); }
};

/// --format.
void add_format_option(CLI::App& app, InputOptions& options);
void add_column_options(CLI::App& app, ColumnFlags& flags);
/// --schema.
void add_schema_option(CLI::App& app, ColumnFlags& flags);

/// Rows of this format, of which what is odd is told, unless `quiet`. Its schema is yet to be set.
std::shared_ptr<schema::RowInput> rows_of(const schema::FormatWord& format, bool quiet);
/// Finds out whether the input is raw rows, by --format or the names of its files, and sets
/// InputOptions::rows where it is. Misuse is CLI::ValidationError.
void settle_rows(InputOptions& options);
/// Behind that: takes what the flags say of columns. Misuse likewise.
void settle_columns(InputOptions& options, const ColumnFlags& flags);

// The next functions do nothing where the input is VW text.

/// The rows are those of a model that learns: by its schema, or one that begins here, of which the
/// model becomes the owner. `name`: of the model, for messages. std::runtime_error where it has
/// learned VW text.
/// `report`: whether a table of the columns is told, and whether somebody waits for predictions.
void learn_rows(const InputOptions& options, const ColumnFlags& flags, model::Model& model,
                const std::string& name, const ReportOptions& report);
/// The rows are read by the schema of a model that does not learn them. std::runtime_error where
/// it has none. `needs_label`: rows without that column are none.
void read_rows_for(const InputOptions& options, const model::Model& model, const std::string& name,
                   bool needs_label);
/// Reads on for another model in its place. False: that one reads other columns.
bool read_rows_on(const InputOptions& options, const model::Model& model);
/// The rows are read by a schema of their own, which nobody keeps.
void read_rows_alone(const InputOptions& options);

/// Counts a chunk of lines that rows have become, or of a bad row; the number of lines.
std::uint64_t count_rows(const stream::ExampleSource& source, const text::ExampleChunk& chunk,
                         stream::BadLineTally& tally);

/// A table of columns: what each is, why, and some of its values.
std::string columns_table(const std::vector<schema::ColumnFacts>& columns);

}  // namespace leveret::cli
