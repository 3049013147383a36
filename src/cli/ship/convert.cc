/// leveret convert FORMAT: a public data set's own format to VW text on stdout.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/ship/convert_by_schema.h"
#include "cli/verbs.h"
#include "convert/convert_avazu.h"
#include "convert/convert_criteo.h"
#include "convert/convert_csv.h"
#include "convert/convert_kdd2012.h"
#include "convert/convert_libffm.h"
#include "options/numbers.h"
#include "stream/byte_source.h"
#include "stream/input_file.h"
#include "text/plain_number.h"

namespace leveret::cli {
namespace {

using convert::NumericForm;

struct ConvertOptions {
  std::string format;
  InputOptions input;
  std::vector<std::string> numeric;  ///< csv: columns; other formats: a form, as numeric_as
  std::string numeric_as;
  std::string label, delimiter = ",", quoting, fields;
  std::vector<std::string> ignore, positive, missing, columns;
  std::string model;  ///< -i; empty: by the options
  bool no_label = false;
  bool quiet = false;
};

const std::map<std::string, NumericForm> kForms{{"log2bucket", NumericForm::kLog2Bucket},
                                                {"value", NumericForm::kValue},
                                                {"both", NumericForm::kBoth}};

// --- From options to a converter. What is wrong with them is misuse, told by CLI11's exception.

[[noreturn]] void misuse(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}

NumericForm numeric_form(const ConvertOptions& o) {
  bool by_name = o.format == "csv";
  std::string word = o.numeric_as;
  if (!by_name && !o.numeric.empty()) {
    if (o.numeric.size() > 1) misuse("--numeric", "takes one form; only csv has named columns");
    if (!word.empty() && word != o.numeric[0]) misuse("--numeric", "contradicts --numeric_as");
    word = o.numeric[0];
  }
  if (word.empty()) return NumericForm::kLog2Bucket;
  auto form = kForms.find(word);
  if (form == kForms.end()) {
    misuse("--numeric", fmt::format("'{}' is not one of log2bucket, value, both", word));
  }
  if (!by_name && o.format != "criteo") {
    misuse("--numeric", fmt::format("does nothing: {} has no numeric columns", o.format));
  }
  return form->second;
}

char delimiter_of(const std::string& word) {
  const std::optional<char> delimiter = schema::read_delimiter(word);
  if (!delimiter) {
    misuse("--delimiter", "is one byte (or the word tab), neither a quote nor a line end");
  }
  return *delimiter;
}

/// "position", or "name=start,name=start,..." with ascending starts.
convert::LibffmFields libffm_fields(const std::string& word) {
  convert::LibffmFields fields;
  if (word == "position") fields.by_position = true;
  if (word.empty() || fields.by_position) return fields;
  const std::string wanted = "is 'position' or NAME=START,... with ascending numbers of features";
  for (std::size_t at = 0; at <= word.size();) {
    std::size_t comma = std::min(word.find(',', at), word.size());
    std::string part = word.substr(at, comma - at);
    std::size_t equal = part.find('=');
    std::optional<std::uint64_t> start;
    if (equal == 0 || equal == std::string::npos ||
        !(start = text::read_whole(std::string_view(part).substr(equal + 1), 0, text::kAnyWhole))) {
      misuse("--fields", wanted);
    }
    if (!fields.starts.empty() && *start <= fields.starts.back().second) misuse("--fields", wanted);
    fields.starts.emplace_back(part.substr(0, equal), *start);
    at = comma + 1;
  }
  return fields;
}

convert::CsvOptions csv_options(const ConvertOptions& o) {
  convert::CsvOptions csv;
  csv.delimiter = delimiter_of(o.delimiter);
  csv.quoted = o.quoting != "none";
  csv.columns = o.columns;
  csv.label = o.label;
  if (o.no_label) csv.labels = convert::CsvOptions::Labels::kNone;
  csv.positive = o.positive;
  csv.ignore = o.ignore;
  csv.numeric = o.numeric;
  csv.missing = o.missing;
  csv.form = numeric_form(o);
  return csv;
}

std::unique_ptr<convert::Converter> make_converter(const ConvertOptions& o,
                                                   convert::ConvertCallbacks callbacks) {
  if (o.format == "csv") {
    return std::make_unique<convert::CsvConverter>(csv_options(o), std::move(callbacks),
                                                   o.input.max_line);
  }
  NumericForm form = numeric_form(o);
  if (o.format == "criteo") {
    return std::make_unique<convert::CriteoConverter>(form, std::move(callbacks), o.input.max_line);
  }
  if (o.format == "avazu") {
    convert::CsvOptions avazu = convert::avazu_options();
    avazu.quoted = o.quoting != "none";
    return std::make_unique<convert::CsvConverter>(avazu, std::move(callbacks), o.input.max_line);
  }
  if (o.format == "kdd2012")
    return std::make_unique<convert::Kdd2012Converter>(std::move(callbacks), o.input.max_line);
  return std::make_unique<convert::LibffmConverter>(libffm_fields(o.fields), std::move(callbacks),
                                                    o.input.max_line);
}

// --- The work

/// The converter's callbacks: text to stdout, bad rows to the same tally that training uses.
class Conversion {
 public:
  explicit Conversion(const ConvertOptions& o)
      : tally_(bad_line_tally(o.input, nullptr)), output_("") {
    convert::ConvertCallbacks callbacks{[this](std::string_view text) { write(text); },
                                        [this](const convert::BadRow& row) { add_bad(row); }};
    if (!o.quiet) callbacks.remark = [this](const convert::ConvertRemark& remark) { tell(remark); };
    converter_ = make_converter(o, std::move(callbacks));
  }

  void convert(stream::ByteSource& source) {
    name_ = source.name();
    std::vector<char> bytes(std::size_t{256} << 10);
    try {
      while (std::size_t size = source.read(bytes.data(), bytes.size())) {
        converter_->feed(std::string_view(bytes.data(), size));
      }
      converter_->finish_source();
    } catch (const convert::ConvertError& error) {
      throw std::runtime_error(place(error.line(), error.column()) + error.what());
    }
  }
  /// For a source that an error ended.
  void finish_remarks() { converter_->finish_remarks(); }

  void finish() {
    tell_good();
    tally_->finish();
    output_.close();
  }

  const convert::ConvertCounts& counts() const { return converter_->counts(); }

 private:
  void write(std::string_view text) {
    output_.write(text);
    output_.flush();  // a live pipe gets what there is
  }

  std::string place(std::uint64_t line, std::uint64_t column) const {
    if (line == 0) return name_ + ": ";
    return column == 0 ? fmt::format("{}:{}: ", name_, line)
                       : fmt::format("{}:{}:{}: ", name_, line, column);
  }

  void tell(const convert::ConvertRemark& remark) const {
    say(place(remark.line, remark.column) + stream::escaped(remark.what));
  }

  /// Good rows are counted where a bad one is, and at the end.
  void tell_good() {
    const std::uint64_t good = converter_->counts().rows - converter_->counts().bad;
    tally_->add_cached(good - good_told_, 0);
    good_told_ = good;
  }

  void add_bad(const convert::BadRow& row) {
    // The row is counted already.
    tell_good();
    text::ExampleChunk chunk;
    chunk.bytes = row.row;
    chunk.bad.push_back({row.line, 0, static_cast<std::uint32_t>(row.row.size()),
                         static_cast<std::uint32_t>(row.column), row.what});
    tally_->add(chunk, name_);
  }

  std::unique_ptr<stream::BadLineTally> tally_;
  Output output_;
  std::unique_ptr<convert::Converter> converter_;
  std::string name_;
  std::uint64_t good_told_ = 0;
};

void run_convert(const ConvertOptions& o) {
  Conversion conversion(o);
  const std::vector<std::string> standard_input{"-"};
  const std::vector<std::string>& paths = o.input.data.empty() ? standard_input : o.input.data;
  tell_of_terminal(o.input);
  for (const std::string& path : paths) stream::check_readable(path);
  try {
    for (const std::string& path : paths) conversion.convert(*stream::open_source(path));
  } catch (const OutputError&) {
    throw;
  } catch (...) {
    conversion.finish_remarks();
    say_good(conversion.counts().rows - conversion.counts().bad, "row");
    throw;
  }
  conversion.finish();
  const convert::ConvertCounts& counts = conversion.counts();
  if (counts.rows == 0) throw std::runtime_error("no row in the input, nothing to convert");
  if (!o.quiet) {
    const std::string unlabelled =
        counts.unlabelled == 0 ? "" : fmt::format("; {} without a label", counts.unlabelled);
    say(fmt::format("converted {} rows to {} examples{}; {} bad", counts.rows - counts.bad,
                    counts.examples, unlabelled, counts.bad));
  }
}

/// With -i the model says how its rows are read.
void check_model_options(const ConvertOptions& o, const CLI::App& verb) {
  for (const char* name : {"--label", "--no_label", "--positive", "--ignore", "--missing",
                           "--columns", "--numeric", "--numeric_as", "--fields"}) {
    if (verb.count(name) > 0) misuse(name, "does not go with -i, whose model says it");
  }
  if (o.format != "csv" && o.format != "tsv" && o.format != "json") {
    misuse("-i", "is for csv, tsv and json");
  }
  if (o.format != "csv" && verb.count("--delimiter") + verb.count("--quoting") > 0) {
    misuse("--delimiter and --quoting", fmt::format("have no meaning for {}", o.format));
  }
}

void run_by_schema(const ConvertOptions& o, const CLI::App& verb) {
  schema::FormatWord format = schema::parse_format(o.format);
  if (verb.count("--delimiter") > 0) format.delimiter = delimiter_of(o.delimiter);
  if (o.quoting == "none") format.quoted = false;
  convert_by_schema(o.model, o.input, format, o.quiet);
}

/// Options that mean nothing to the format are misuse: nothing a user asks for is dropped.
void check_options(const ConvertOptions& o, const CLI::App& verb) {
  if (!o.model.empty()) return check_model_options(o, verb);
  if (o.format == "tsv" || o.format == "json") {
    misuse(o.format, "is for a model that has learned such rows: add -i MODEL");
  }
  for (const char* name : {"--label", "--no_label", "--positive", "--ignore", "--missing",
                           "--columns", "--delimiter", "--numeric_as"}) {
    bool for_criteo = o.format == "criteo" && std::string_view(name) == "--numeric_as";
    if (verb.count(name) > 0 && o.format != "csv" && !for_criteo) {
      misuse(name, fmt::format("has no meaning for {}", o.format));
    }
  }
  if (verb.count("--quoting") > 0 && o.format != "csv" && o.format != "avazu") {
    misuse("--quoting", fmt::format("has no meaning for {}", o.format));
  }
  for (const std::string& word : o.missing) {
    if (std::ranges::count(o.positive, word) == 0) continue;
    misuse("--missing", fmt::format("contradicts --positive: both name '{}'", word));
  }
  if (verb.count("--fields") > 0 && o.format != "libffm") misuse("--fields", "is for libffm");
  if (o.no_label && (!o.label.empty() || !o.positive.empty())) {
    misuse("--no_label", "contradicts --label and --positive");
  }
}

void check_files(const ConvertOptions& o) {
  FileUses uses;
  uses.add(o.input);
  uses.add_model("-i", o.model);
  uses.add_result("", "-");
  uses.check();
}

/// A list takes commas or is repeated: a word behind its value is a file.
void add_list(CLI::App& verb, const char* name, std::vector<std::string>& list, const char* type,
              const char* help) {
  verb.add_option(name, list, help)
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->delimiter(',');
}

}  // namespace

void setup_convert(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<ConvertOptions>();
  CLI::App* verb =
      app.add_subcommand("convert", "make VW text of CSV, Criteo, Avazu and other formats");
  verb->add_option("format", o->format,
                   "criteo, avazu, kdd2012, libffm (also libsvm) or csv; with -i csv, tsv or json")
      ->type_name("FORMAT")
      ->required()
      ->check(options::one_of(
          std::vector<std::string>{"criteo", "avazu", "kdd2012", "libffm", "csv", "tsv", "json"}));
  verb->add_option("-i,--initial_regressor", o->model,
                   "the VW text as which this model, which has learned raw rows, reads such rows")
      ->type_name("MODEL")
      ->check(not_empty());
  add_input_options(*verb, o->input);
  verb->get_option("--data")->description("files, plain, gzip or zstd; none or -: standard input");
  verb->get_option("--max_line")->description("bytes; a longer row ends the run");
  add_list(*verb, "--numeric", o->numeric, "FORM|COL,…",
           "criteo: its integers as log2bucket (default), value or both; csv: the numeric columns");
  verb->add_option("--numeric_as", o->numeric_as,
                   "numeric columns as log2bucket (default), value or both")
      ->check(options::one_of(std::vector<std::string>{"log2bucket", "value", "both"}));
  verb->add_option("--label", o->label, "csv: the label's column (default label, else click)");
  verb->add_flag("--no_label", o->no_label, "csv: there is no label: lines to predict");
  add_list(*verb, "--positive", o->positive, "VALUE,…",
           "csv: label values that are positive, all others negative (default 1; 0 and -1 are "
           "negative, anything else is a bad row)");
  add_list(*verb, "--ignore", o->ignore, "COL,…", "csv: columns that become no features");
  add_list(*verb, "--missing", o->missing, "VALUE,…",
           "csv: values that mean missing, besides the empty one, also as labels");
  add_list(*verb, "--columns", o->columns, "NAME,…",
           "csv: names of the columns when there is no header line");
  verb->add_option("--delimiter", o->delimiter, "csv: one byte, or the word tab (default ,)");
  verb->add_option("--quoting", o->quoting,
                   "csv, avazu: rfc4180 (default), or none: a quote is a byte as others are")
      ->check(options::one_of(std::vector<std::string>{"rfc4180", "none"}));
  verb->add_option(
      "--fields", o->fields,
      "libsvm rows: 'position', or NAME=START,... with the first feature of each field");
  verb->add_flag("--quiet", o->quiet, "no summary and no remarks on stderr");
  verb->callback([o, verb, &exit_code] {
    settle_input(o->input);
    check_files(*o);
    check_options(*o, *verb);
    if (o->model.empty()) {
      run_convert(*o);
    } else {
      run_by_schema(*o, *verb);
    }
    exit_code = 0;
  });
}

}  // namespace leveret::cli
