/// leveret convert FORMAT: a public data set's own format to VW text on stdout.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/convert_bad_rows.h"
#include "cli/verbs.h"
#include "stream/byte_source.h"
#include "text/convert_avazu.h"
#include "text/convert_criteo.h"
#include "text/convert_csv.h"
#include "text/convert_kdd2012.h"
#include "text/convert_libffm.h"

namespace leveret::cli {
namespace {

using text::NumericForm;

struct ConvertOptions {
  std::string format;
  std::vector<std::string> data;
  std::vector<std::string> numeric;  ///< csv: columns; other formats: a form, as numeric_as
  std::string numeric_as;
  std::string label, delimiter = ",", fields;
  std::vector<std::string> ignore, positive, missing, columns;
  bool no_label = false;
  std::string bad_lines;
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
    if (!word.empty() && word != o.numeric[0]) misuse("--numeric", "contradicts --numeric_as");
    word = o.numeric[0];
  }
  if (word.empty()) return NumericForm::kLog2Bucket;
  auto form = kForms.find(word);
  if (form == kForms.end()) {
    misuse("--numeric", fmt::format("'{}' is not one of log2bucket, value, both", word));
  }
  if (!by_name && o.format != "criteo") {
    fmt::print(stderr,
               "leveret convert: note: {} has no numeric columns; --numeric has no effect\n",
               o.format);
  }
  return form->second;
}

char delimiter_of(const std::string& word) {
  if (word == "tab" || word == "\\t") return '\t';
  if (word.size() != 1 || word == "\"" || word == "\n" || word == "\r") {
    misuse("--delimiter", "is one byte (or the word tab), neither a quote nor a line end");
  }
  return word[0];
}

/// "position", or "name=start,name=start,..." with ascending starts.
text::LibffmFields libffm_fields(const std::string& word) {
  text::LibffmFields fields;
  if (word == "position") fields.by_position = true;
  if (word.empty() || fields.by_position) return fields;
  const std::string wanted = "is 'position' or NAME=START,... with ascending numbers of features";
  for (std::size_t at = 0; at <= word.size();) {
    std::size_t comma = std::min(word.find(',', at), word.size());
    std::string part = word.substr(at, comma - at);
    std::size_t equal = part.find('=');
    std::uint64_t start = 0;
    if (equal == 0 || equal == std::string::npos ||
        !CLI::detail::lexical_cast(part.substr(equal + 1), start)) {
      misuse("--fields", wanted);
    }
    if (!fields.starts.empty() && start <= fields.starts.back().second) misuse("--fields", wanted);
    fields.starts.emplace_back(part.substr(0, equal), start);
    at = comma + 1;
  }
  return fields;
}

text::CsvOptions csv_options(const ConvertOptions& o) {
  text::CsvOptions csv;
  csv.delimiter = delimiter_of(o.delimiter);
  csv.columns = o.columns;
  csv.label = o.label;
  if (o.no_label) csv.labels = text::CsvOptions::Labels::kNone;
  csv.positive = o.positive;
  csv.ignore = o.ignore;
  csv.numeric = o.numeric;
  csv.missing = o.missing;
  csv.form = numeric_form(o);
  return csv;
}

std::unique_ptr<text::Converter> make_converter(const ConvertOptions& o,
                                                text::ConvertCallbacks callbacks) {
  if (o.format == "csv") {
    return std::make_unique<text::CsvConverter>(csv_options(o), std::move(callbacks));
  }
  NumericForm form = numeric_form(o);
  if (o.format == "criteo") {
    return std::make_unique<text::CriteoConverter>(form, std::move(callbacks));
  }
  if (o.format == "avazu") {
    return std::make_unique<text::CsvConverter>(text::avazu_options(), std::move(callbacks));
  }
  if (o.format == "kdd2012") return std::make_unique<text::Kdd2012Converter>(std::move(callbacks));
  return std::make_unique<text::LibffmConverter>(libffm_fields(o.fields), std::move(callbacks));
}

// --- The work

/// An error that needs no source's name in front.
struct Stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void write_out(std::string_view text) {
  while (!text.empty()) {
    ssize_t wrote = ::write(STDOUT_FILENO, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw Stop(fmt::format("cannot write to stdout: {}", std::strerror(errno)));
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void convert_source(stream::ByteSource& source, text::Converter& converter) {
  std::vector<char> bytes(std::size_t{256} << 10);
  while (std::size_t size = source.read(bytes.data(), bytes.size())) {
    converter.feed(std::string_view(bytes.data(), size));
  }
  converter.finish_source();
}

void run_convert(const ConvertOptions& o) {
  // A closed pipe shall be an error with a message, not a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  BadRows bad_rows(o.bad_lines);
  std::string name;
  text::Converter* converter_in_use = nullptr;
  auto report = [&](const text::BadRow& row) {
    if (auto error = bad_rows.add(name, row, converter_in_use->counts().rows)) throw Stop(*error);
  };
  auto converter = make_converter(o, {write_out, report});
  converter_in_use = converter.get();
  const std::vector<std::string> standard_input{"-"};
  for (const std::string& path : o.data.empty() ? standard_input : o.data) {
    auto source = stream::open_source(path);
    name = source->name();
    try {
      convert_source(*source, *converter);
    } catch (const text::ConvertError& error) {
      throw Stop(fmt::format("{}:{}: {}", name, error.line(), error.what()));
    }
  }
  const text::ConvertCounts& counts = converter->counts();
  if (counts.rows == 0) throw Stop(fmt::format("{}: no rows to convert", name));
  bad_rows.finish();
  if (!o.quiet) {
    fmt::print(stderr, "leveret convert: {} rows, {} examples, {} bad rows\n", counts.rows,
               counts.examples, counts.bad);
  }
}

/// Options that mean nothing to the format are misuse: nothing a user asks for is dropped.
void check_options(const ConvertOptions& o, const CLI::App& verb) {
  for (const char* name : {"--label", "--no_label", "--positive", "--ignore", "--missing",
                           "--columns", "--delimiter", "--numeric_as"}) {
    bool for_criteo = o.format == "criteo" && std::string_view(name) == "--numeric_as";
    if (verb.count(name) > 0 && o.format != "csv" && !for_criteo) {
      misuse(name, fmt::format("has no meaning for {}", o.format));
    }
  }
  if (verb.count("--fields") > 0 && o.format != "libffm") misuse("--fields", "is for libffm");
  if (o.no_label && (!o.label.empty() || !o.positive.empty())) {
    misuse("--no_label", "contradicts --label and --positive");
  }
  if (std::string what = BadRows::check(o.bad_lines); !what.empty()) misuse("--bad_lines", what);
}

}  // namespace

void setup_convert(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<ConvertOptions>();
  CLI::App* verb = app.add_subcommand("convert", "Turn a public data set's format into VW text");
  verb->add_option("format", o->format, "criteo, avazu, kdd2012, libffm (also libsvm) or csv")
      ->required()
      ->check(CLI::IsMember({"criteo", "avazu", "kdd2012", "libffm", "csv"}));
  verb->add_option("-d,--data,data", o->data,
                   "Files, plain, gzip or zstd; - or none: standard input");
  verb->add_option("--numeric", o->numeric,
                   "criteo: its integers as log2bucket (default), value or both; csv: the numeric "
                   "columns");
  verb->add_option("--numeric_as", o->numeric_as,
                   "Numeric columns as log2bucket (default), value or both")
      ->check(CLI::IsMember({"log2bucket", "value", "both"}));
  verb->add_option("--label", o->label, "csv: the label's column (default label, else click)");
  verb->add_flag("--no_label", o->no_label, "csv: there is no label: lines to predict");
  verb->add_option("--positive", o->positive,
                   "csv: label values that are positive, all others negative (default 1; 0 and -1 "
                   "are negative, anything else is a bad row)");
  verb->add_option("--ignore", o->ignore, "csv: columns that become no features");
  verb->add_option("--missing", o->missing, "csv: values that mean missing, besides the empty one");
  verb->add_option("--columns", o->columns,
                   "csv: names of the columns when there is no header line")
      ->delimiter(',');
  verb->add_option("--delimiter", o->delimiter, "csv: one byte, or the word tab (default ,)");
  verb->add_option(
      "--fields", o->fields,
      "libsvm rows: 'position', or NAME=START,... with the first feature of each field");
  verb->add_option("--bad_lines", o->bad_lines,
                   "fail, skip or max=N (default: skip up to 1 % of the rows, at least 10)");
  verb->add_flag("--quiet", o->quiet, "No summary on stderr");
  verb->callback([o, verb, &exit_code] {
    if (o->format != "csv" && o->numeric.size() > 1) {
      // Only csv names columns here; elsewhere what follows the form are the files.
      o->data.insert(o->data.begin(), o->numeric.begin() + 1, o->numeric.end());
      o->numeric.resize(1);
    }
    check_options(*o, *verb);
    run_convert(*o);
    exit_code = 0;
  });
}

}  // namespace leveret::cli
