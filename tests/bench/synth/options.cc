#include "options.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>

namespace leveret::synth {
namespace {

constexpr double kChanges = 20;  ///< per million rows, where a kind of drift is named

/// CLI11's Range lets NaN through.
CLI::Validator real_between(double low, double high) {
  auto check = [low, high](const std::string& text) {
    double value = 0;
    bool good = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
    return good ? std::string() : fmt::format("{} is not a number from {} to {}", text, low, high);
  };
  return CLI::Validator(check, fmt::format("{} to {}", low, high));
}

/// Whether a file, by whatever name, or a pipe is the one that rows go to.
bool is_printed_to(const std::string& path) {
  struct stat named, printed;
  return ::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &printed) == 0 &&
         !S_ISCHR(named.st_mode) && named.st_dev == printed.st_dev &&
         named.st_ino == printed.st_ino;
}

/// What one option's own check cannot see.
void check_together(const Options& options, bool numeric_given, bool strength_given) {
  if (numeric_given && options.numeric > options.fields) {
    throw CLI::ValidationError("--numeric", "cannot be more than --fields");
  }
  if (options.populations && options.numeric >= options.fields) {
    throw CLI::ValidationError("--populations",
                               "needs a categorical field, whose values tell them");
  }
  if (options.order > options.fields) {
    throw CLI::ValidationError("--order", "cannot be more than --fields");
  }
  if (!options.truth.empty() && is_printed_to(options.truth)) {
    throw CLI::ValidationError("--truth", "is where the rows go; name another file");
  }
  if (options.drift_kind == DriftKind::kUnnamed && strength_given) {
    throw CLI::ValidationError("--drift_strength", "needs --drift_kind");
  }
  // A period is counted in rows; beyond 10^12 of them nothing would ever change.
  if (options.drift_kind != DriftKind::kUnnamed && options.drift < 1e-6) {
    throw CLI::ValidationError("--drift_kind", "needs a --drift of .000001 or more");
  }
  if (options.format == Format::kCriteo && (options.fields != 39 || options.numeric != 13)) {
    throw CLI::ValidationError("--format criteo", "has 39 fields, 13 of them numeric");
  }
  if (options.format == Format::kCriteo && options.numbers > 0) {
    throw CLI::ValidationError("--numbers", "is for --format vw and csv");
  }
  if (options.format != Format::kVw && options.numeric_as != NumericAs::kLog2Bucket) {
    throw CLI::ValidationError("--numeric-as", "is for --format vw; raw formats hold the numbers");
  }
}

/// A table has none of what fields have.
void check_alone(const CLI::App& app, const CLI::Option& columns) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool goes_along = option == &columns || name == "--rows" || name == "--first" ||
                            name == "--seed" || name == "--base-rate" || name == "--truth" ||
                            name == "--quiet";
    if (option->count() > 0 && !goes_along) throw CLI::ValidationError(name, "not with --columns");
  }
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  ParsedOptions parsed;
  Options& o = parsed.options;
  CLI::App app(
      "Writes click data of any size to stdout from a planted model: linear terms, field-aware\n"
      "pairs and a small random network over Zipf vocabularies. The same options always give\n"
      "the same bytes.",
      "leveret-synth");
  const std::map<std::string, Format> formats{
      {"vw", Format::kVw}, {"criteo", Format::kCriteo}, {"csv", Format::kCsv}};
  const std::map<std::string, DriftKind> kinds{{"sudden", DriftKind::kSudden},
                                               {"gradual", DriftKind::kGradual},
                                               {"recurring", DriftKind::kRecurring},
                                               {"vocabulary", DriftKind::kVocabulary},
                                               {"mixed", DriftKind::kMixed}};
  const std::map<std::string, NumericAs> numeric_forms{{"log2bucket", NumericAs::kLog2Bucket},
                                                       {"value", NumericAs::kValue},
                                                       {"both", NumericAs::kBoth}};
  app.add_option("--rows,-n", o.rows, "Rows to write (default 1000000)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40));
  app.add_option("--first", o.first,
                 "Number of the first row; a test set continues its train set (default 0)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40));
  app.add_option("--seed", o.seed, "Another world and other rows (default 1)");
  app.add_option("--fields", o.fields, "Number of fields, 2 to 200 (default 39)")
      ->check(CLI::Range(2u, 200u));
  CLI::Option* numeric =
      app.add_option("--numeric", o.numeric, "How many of them are numeric (default a third)")
          ->check(CLI::Range(0u, 200u));
  app.add_option("--vocabulary", o.vocabulary,
                 "Values of the largest categorical field, 2 to 100000000 (default 1000000)")
      ->check(CLI::Range(std::uint64_t{2}, std::uint64_t{100'000'000}));
  app.add_option(
         "--order", o.order,
         "Fields of each planted product, 2 or 3: 3 plants products of three fields in place "
         "of the pairs (default 2)")
      ->check(CLI::Range(2u, 3u));
  app.add_option(
         "--numbers", o.numbers,
         "Real numbers of each row, in namespaces N1, N2, … of their own, of which a non-linear "
         "function is planted, 0 to 1000 (default 0)")
      ->check(CLI::Range(0u, 1000u));
  app.add_flag("--populations", o.populations,
               "Two populations, told by the values of one field, with weights of their own");
  CLI::Option* columns = app.add_flag(
      "--columns", o.columns,
      "A table in CSV in place of fields: an age, an income, a time, six categories, of which "
      "waves and pairs are planted; takes --rows, --first, --seed, --base_rate and --truth");
  app.add_option("--base-rate,--base_rate", o.base_rate,
                 "Share of positives, .001 to .999 (default .25)")
      ->check(real_between(0.001, 0.999));
  CLI::Option* drift =
      app.add_option("--drift", o.drift,
                     "How often per million rows weights and rare values are replaced (default 0, "
                     "with --drift_kind 20)")
          ->check(real_between(0, 1000));
  CLI::Option* kind =
      app.add_option(
             "--drift_kind,--drift-kind", o.drift_kind,
             "What changes: sudden (weights, at once), gradual (weights, step by step), "
             "recurring (two sets of weights in turns), vocabulary (values), mixed (weights "
             "stand still and wander in turns)")
          ->transform(CLI::CheckedTransformer(kinds).description(""))
          ->type_name("KIND");
  CLI::Option* strength =
      app.add_option("--drift_strength,--drift-strength", o.drift_strength,
                     "Share of the weights' variance, or of the values, that changes, 0 to 1 "
                     "(default 1)")
          ->check(real_between(0, 1));
  app.add_option("--format", o.format, "vw, criteo (raw TSV) or csv with header (default vw)")
      ->transform(CLI::CheckedTransformer(formats).description(""))
      ->type_name("NAME");
  app.add_option("--numeric-as,--numeric_as", o.numeric_as,
                 "Numeric fields in VW text: log2bucket, value or both (default log2bucket)")
      ->transform(CLI::CheckedTransformer(numeric_forms).description(""))
      ->type_name("FORM");
  app.add_option("--truth", o.truth, "Write each row's true probability to this file");
  app.add_flag("--quiet", o.quiet, "No summary on stderr");
  try {
    app.parse(argc, argv);
    if (numeric->count() == 0) o.numeric = o.fields / 3;
    if (kind->count() > 0 && drift->count() == 0) o.drift = kChanges;
    if (columns->count() > 0) check_alone(app, *columns);
    check_together(o, numeric->count() > 0, strength->count() > 0);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : 2;
  }
  return parsed;
}

}  // namespace leveret::synth
