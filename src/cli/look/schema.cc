/// leveret schema: how raw rows would be read, or how a model reads them.
#include "schema/schema.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/raw_rows.h"
#include "cli/verbs.h"
#include "modelfile/model_io.h"
#include "store/model_file.h"
#include "stream/text_reader.h"

namespace leveret::cli {
namespace {

struct SchemaOptions {
  InputOptions input;
  ColumnFlags columns;
  std::string model;
  bool quiet = false;
};

void print(const schema::Schema& schema) {
  Output output("");
  output.write(schema::to_text(schema));
  output.close();
}

void print_of_model(const SchemaOptions& options) {
  const store::ModelFile file = store::ModelFile::open(options.model);
  const model::Model model =
      modelfile::load_model(file, modelfile::default_memory_limit(), model::Use::kPredict);
  if (model.schema() == nullptr) {
    throw std::runtime_error(
        fmt::format("{}: has no schema, as it has learned VW text", options.model));
  }
  print(*model.schema()->get());
}

/// Decides by the first rows, and reads no more.
void print_of_rows(const SchemaOptions& options) {
  read_rows_alone(options.input);
  schema::RowInput& rows = *options.input.rows;
  std::shared_ptr<const schema::Schema> first;
  std::uint64_t waiting = 0;  // rows that were looked at
  rows.options.decided = [&](const std::vector<schema::ColumnFacts>& columns) {
    if (first != nullptr) return;  // the reader is ahead
    first = rows.schema->get();
    waiting = columns[0].rows;
    if (!options.quiet) say("columns of the first rows:\n" + columns_table(columns));
  };
  const auto tally = bad_line_tally(options.input);
  const auto source = open_lines(options.input, {2});
  std::uint64_t done = 0;
  work_through(*source, *tally, {[&] { return done; }}, [&] {
    text::ExampleChunk chunk;
    // The first chunk comes when the columns have been decided.
    while ((done == 0 || done < waiting) && source->next(chunk)) {
      done += count_rows(*source, chunk, *tally) + chunk.bad.size();
    }
  });
  tally->finish();
  if (first == nullptr) throw std::runtime_error("no row in the input");
  print(*first);
}

void run_schema(const SchemaOptions& options) {
  if (!options.model.empty()) {
    if (!options.input.data.empty() || !options.input.format.empty() || options.columns.given()) {
      throw CLI::ValidationError("-i", "prints the model's schema: leave out the rows");
    }
    return print_of_model(options);
  }
  if (options.input.rows == nullptr) {
    throw CLI::ValidationError(
        "schema", "reads raw rows: a file of .csv, .tsv or .jsonl, or --format, is missing");
  }
  print_of_rows(options);
}

void check_files(const SchemaOptions& options) {
  FileUses uses;
  uses.add(options.input);
  uses.add_model("-i", options.model);
  uses.add_result("", "-");
  uses.check();
}

}  // namespace

void setup_schema(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SchemaOptions>();
  CLI::App* verb =
      app.add_subcommand("schema", "the columns of raw rows, as train would read them");
  verb->add_option("-i,--initial_regressor", options->model, "print the schema of this model")
      ->type_name("MODEL")
      ->check(not_empty());
  add_input_options(*verb, options->input);
  add_format_option(*verb, options->input);
  add_column_options(*verb, options->columns);
  verb->add_flag("--quiet", options->quiet, "no table of the columns on stderr");
  verb->callback([options, &exit_code] {
    options->input.quiet = options->quiet;
    settle_input(options->input);
    check_files(*options);
    settle_columns(options->input, options->columns);
    run_schema(*options);
    exit_code = 0;
  });
}

}  // namespace leveret::cli
