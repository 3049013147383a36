#include "cli/raw_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>

#include "cli/console.h"
#include "schema/row_format.h"
#include "stream/bad_lines.h"
#include "stream/folder_paths.h"

namespace leveret::cli {
namespace {

[[noreturn]] void row_misuse(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}

/// A folder's first file, by whose name all of them are read; else the path itself.
std::string first_file(const std::string& path) {
  std::error_code error;
  std::string first;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    if (stream::is_followed(name) && (first.empty() || name < first)) first = name;
  }
  return first.empty() ? path : path + '/' + first;
}

/// By the names of all files; nothing where they are of VW text, or no names.
std::optional<schema::FormatWord> format_of_files(const std::vector<std::string>& paths) {
  std::optional<schema::FormatWord> format;
  for (const std::string& path : paths) {
    const auto of_file = schema::format_of_file(first_file(path));
    const bool is_first = &path == &paths.front();
    if (is_first) format = of_file;
    if (of_file.has_value() != format.has_value() || (format && *format != *of_file)) {
      row_misuse("--format",
                 fmt::format("{} and {} seem to have different formats: name the format, "
                             "csv, tsv, json or vw",
                             paths.front(), path));
    }
  }
  return format;
}

schema::Column column_of_kind(const std::string& name, schema::Kind kind) {
  schema::Column column;
  column.name = name;
  column.kind = kind;
  return column;
}

std::vector<schema::Column> columns_of(const ColumnFlags& flags) {
  std::vector<schema::Column> columns;
  const auto add = [&](const std::string& option, schema::Column column) {
    if (std::ranges::find(columns, column.name, &schema::Column::name) != columns.end()) {
      row_misuse(option, fmt::format("column '{}' has a kind already", column.name));
    }
    columns.push_back(std::move(column));
  };
  for (const std::string& text : flags.columns) {
    try {
      add("--column", schema::parse_named_column(text));
    } catch (const std::runtime_error& error) {
      row_misuse("--column", fmt::format("{}: {}", text, error.what()));
    }
  }
  if (!flags.label.empty()) {
    // --column NAME=label:positive=… says the same, and more.
    const auto at = std::ranges::find(columns, flags.label, &schema::Column::name);
    const bool known = at != columns.end() && at->kind == schema::Kind::kLabel;
    if (!known) add("--label", column_of_kind(flags.label, schema::Kind::kLabel));
  }
  if (!flags.tag.empty()) add("--tag", column_of_kind(flags.tag, schema::Kind::kTag));
  if (!flags.weight.empty()) add("--weight", column_of_kind(flags.weight, schema::Kind::kWeight));
  for (const schema::Kind kind :
       {schema::Kind::kLabel, schema::Kind::kTag, schema::Kind::kWeight}) {
    if (std::ranges::count(columns, kind, &schema::Column::kind) > 1) {
      row_misuse("--column", fmt::format("two columns are the {}", schema::kind_name(kind)));
    }
  }
  return columns;
}

/// With `given` in place of what the file says of these columns.
schema::Schema with_given(schema::Schema schema, const std::vector<schema::Column>& given) {
  for (const schema::Column& column : given) {
    const std::size_t at = schema.find(column.name);
    if (at == schema::Schema::kNone) {
      throw std::runtime_error(fmt::format("has no column '{}'", column.name));
    }
    schema.columns[at].kind = schema::Kind::kOpen;
    schema::check_once(schema, column);
    schema.columns[at] = column;
  }
  schema::check_ages(schema);
  return schema;
}

schema::Schema schema_of_file(const std::string& path, const std::vector<schema::Column>& given) {
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) {
    throw std::runtime_error(fmt::format("{}: cannot read it: {}", path, std::strerror(errno)));
  }
  try {
    schema::Schema schema = schema::from_text(text);
    if (schema.columns.empty()) throw std::runtime_error("names no column");
    return with_given(std::move(schema), given);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}: {}", path, error.what()));
  }
}

std::shared_ptr<schema::SharedSchema> copy_of(const model::Model& model) {
  return std::make_shared<schema::SharedSchema>(*model.schema()->get());
}

/// The kind as a person reads it, with a count in place of the edges, which are many numbers.
std::string kind_text(schema::Column column) {
  std::string text;
  if (column.has_edges() && !column.edges.empty()) {
    const std::size_t edges = column.edges.size();
    text = fmt::format(" ({} {})", edges,
                       column.form == schema::NumberForm::kLinear ? "knots" : "edges");
    column.edges.clear();
  }
  return schema::column_text(column) + text;
}

}  // namespace

void add_format_option(CLI::App& app, InputOptions& options) {
  options.takes_rows = true;
  app.add_option_function<std::string>(
         "--format",
         [&options](const std::string& word) {
           try {
             schema::parse_format(word);
           } catch (const std::runtime_error& error) {
             throw CLI::ValidationError("--format", error.what());
           }
           options.format = word;
         },
         "vw, csv, tsv or json (an object a line); default: by the names of the files, else vw")
      ->type_name("FORMAT");
}

void add_column_options(CLI::App& app, ColumnFlags& flags) {
  app.add_option("--label", flags.label,
                 "raw rows: the column of clicks; default: label, click, clicked or target")
      ->type_name("COLUMN")
      ->check(not_empty());
  app.add_option("--column", flags.columns,
                 "raw rows: what a column is: label, weight, tag, id, ignore, category, number, "
                 "date, list or text, as in age=number:bins=20; repeat it for other columns")
      ->type_name("NAME=KIND")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--tag", flags.tag, "raw rows: a column to stand beside predictions")
      ->type_name("COLUMN")
      ->check(not_empty());
  app.add_option("--weight", flags.weight, "raw rows: the column of importance weights")
      ->type_name("COLUMN")
      ->check(not_empty());
}

void add_schema_option(CLI::App& app, ColumnFlags& flags) {
  app.add_option("--schema", flags.schema,
                 "raw rows: a file with the kinds of all columns, as leveret schema prints them")
      ->type_name("FILE")
      ->check(not_empty());
}

std::shared_ptr<schema::RowInput> rows_of(const schema::FormatWord& format, bool quiet) {
  auto rows = std::make_shared<schema::RowInput>();
  rows->options.format = format;
  rows->options.remark = [quiet](const std::string& text) {
    if (!quiet) say("warning: " + text);
  };
  return rows;
}

void settle_rows(InputOptions& options) {
  if (!options.takes_rows) return;
  const std::optional<schema::FormatWord> format =
      options.format.empty() ? format_of_files(options.data)
                             : std::optional(schema::parse_format(options.format));
  if (!format || format->kind == schema::FormatWord::Kind::kVw) return;
  if (!options.cache.empty()) {
    row_misuse("-c", "caches keep VW text, not raw rows: leave it out, or convert the rows first");
  }
  options.rows = rows_of(*format, options.quiet);
}

void settle_columns(InputOptions& options, const ColumnFlags& flags) {
  if (options.rows == nullptr) {
    if (flags.given()) {
      row_misuse("--label, --column, --tag, --weight and --schema",
                 "are about raw rows, and the input is VW text; name its format: --format csv");
    }
    return;
  }
  options.rows->options.given = columns_of(flags);
}

void learn_rows(const InputOptions& options, const ColumnFlags& flags, model::Model& model,
                const std::string& name, const ReportOptions& report) {
  if (options.rows == nullptr) return;
  if (model.schema() == nullptr) {
    if (model.parameters().scalars.examples > 0) {
      throw std::runtime_error(
          fmt::format("{} has learned VW text and knows no columns: give it VW text (leveret "
                      "convert), or learn a new model",
                      name));
    }
    model.set_schema(std::make_shared<schema::SharedSchema>(
        flags.schema.empty() ? schema::Schema()
                             : schema_of_file(flags.schema, options.rows->options.given)));
    if (!flags.schema.empty()) options.rows->options.given.clear();
  } else if (!flags.schema.empty()) {
    throw std::runtime_error(
        fmt::format("{} has a schema: leave out --schema, or learn a new model", name));
  }
  schema::RowInput& rows = *options.rows;
  rows.schema = model.schema();
  rows.options.needs_label = true;
  // Who waits for a prediction sends no further row before it.
  if (!report.predictions.empty()) {
    rows.options.least_rows = 1;
    rows.options.patience = std::chrono::milliseconds(100);
    rows.options.later_patience = std::chrono::milliseconds(0);
  }
  rows.options.decided = [quiet = report.quiet](const std::vector<schema::ColumnFacts>& columns) {
    if (!quiet) {
      say("columns, by the first rows with values (--column NAME=KIND changes one):\n" +
          columns_table(columns));
    }
  };
}

void read_rows_for(const InputOptions& options, const model::Model& model, const std::string& name,
                   bool needs_label) {
  if (options.rows == nullptr) return;
  if (model.schema() == nullptr) {
    throw std::runtime_error(
        fmt::format("{} has learned VW text and knows no columns: give it VW text (leveret "
                    "convert), or a model that has learned raw rows",
                    name));
  }
  options.rows->schema = copy_of(model);
  options.rows->options.needs_label = needs_label;
  options.rows->options.least_rows = 1;
  options.rows->options.decides = false;
}

bool read_rows_on(const InputOptions& options, const model::Model& model) {
  if (options.rows == nullptr) return true;
  schema::SharedSchema& ours = *options.rows->schema;
  if (model.schema() == nullptr) return false;
  const auto later = model.schema()->get();
  if (!schema::is_continued(*ours.get(), *later)) return false;
  ours.set(later);
  return true;
}

void read_rows_alone(const InputOptions& options) {
  if (options.rows == nullptr) return;
  options.rows->schema = std::make_shared<schema::SharedSchema>();
}

std::uint64_t count_rows(const stream::ExampleSource& source, const text::ExampleChunk& chunk,
                         stream::BadLineTally& tally) {
  tally.add(chunk, source.source_name(chunk.source));
  if (!chunk.bad.empty()) return 0;
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(chunk.bytes, '\n'));
  tally.add_cached(lines, 0);
  return lines;
}

std::string columns_table(const std::vector<schema::ColumnFacts>& columns) {
  using Cells = std::array<std::string, 6>;
  std::vector<Cells> rows{{"column", "kind", "why", "values", "different", "missing"}};
  for (const schema::ColumnFacts& facts : columns) {
    const double missing = facts.rows > 0 ? 100.0 * static_cast<double>(facts.missing) /
                                                static_cast<double>(facts.rows)
                                          : 0;
    rows.push_back({facts.column.name, kind_text(facts.column), facts.why,
                    fmt::format("{}", fmt::join(facts.examples, ", ")),
                    fmt::format("{}", facts.different), fmt::format("{:.0f} %", missing)});
  }
  std::array<std::size_t, 6> widths{};
  for (Cells& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i] = stream::escaped(cells[i]);
      widths[i] = std::max(widths[i], cells[i].size());
    }
  }
  std::string text;
  for (const Cells& cells : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += i < 4 ? fmt::format(" {:<{}} ", cells[i], widths[i])
                    : fmt::format(" {:>{}} ", cells[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace leveret::cli
