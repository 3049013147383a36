/// leveret export: weights for serving.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/file_uses.h"
#include "cli/ship/export_flags.h"
#include "cli/verbs.h"
#include "options/numbers.h"
#include "text/plain_number.h"

namespace leveret::cli {
namespace {

void add_codes(CLI::App& verb, ExportFlags& flags) {
  verb.add_option("--bits", flags.options.bits, "bits of a weight: 32, 16, 8 or 4")
      ->type_name("N")
      ->transform(options::one_of({32, 16, 8, 4}))
      ->default_str("16");
  verb.add_option_function<std::string>(
          "--rounding",
          [&flags](const std::string& word) {
            flags.options.rounding.stochastic = word == "stochastic";
          },
          "rounding of weights: nearest; stochastic: up or down at random, so that the mean is "
          "kept")
      ->type_name("WORD")
      ->check(options::one_of(std::vector<std::string>{"nearest", "stochastic"}))
      ->default_str("nearest");
  verb.add_option_function<std::uint64_t>(
          "--seed",
          [&flags](std::uint64_t seed) {
            flags.options.rounding.seed = seed;
            flags.seed_given = true;
          },
          "seed of --rounding stochastic")
      ->type_name("N")
      ->transform(options::within(0, text::kAnyWhole))
      ->default_str("0");
}

void add_choice(CLI::App& verb, ExportFlags& flags) {
  verb.add_option("--min_count", flags.options.min_count,
                  "leave out features that were seen fewer than N times")
      ->type_name("N")
      ->transform(options::within(0, text::kAnyWhole))
      ->default_str("0");
  CLI::Option* previous = verb.add_option("--previous", flags.options.previous,
                                          "an earlier export of the model: keep its range of "
                                          "weights while they fit, so that patches are small")
                              ->type_name("FILE")
                              ->check(not_empty());
  verb.add_option("--tolerance", flags.options.rounding.tolerance,
                  "with --previous: keep the code of a weight that has moved by less than X codes")
      ->type_name("X")
      ->transform(options::real_within(0, 1000))
      ->needs(previous)
      ->default_str("0");
}

}  // namespace

void add_export_options(CLI::App& verb, ExportFlags& flags) {
  verb.add_option("-o,--output", flags.output, "save the export here")
      ->type_name("FILE")
      ->check(not_empty())
      ->required();
  add_overwrite_option(verb, flags.overwrite);
  add_codes(verb, flags);
  add_choice(verb, flags);
}

void check_export(const ExportFlags& flags) {
  const modelfile::ExportOptions& options = flags.options;
  check_model_name("-o", flags.output);
  if (flags.seed_given && !options.rounding.stochastic) {
    throw CLI::ValidationError("--seed does nothing without --rounding stochastic");
  }
  FileUses uses;
  uses.add_read("-i", flags.model);  // an export in its place could not learn any more
  uses.add_model("--previous", options.previous);
  uses.add_saved_model("-o", flags.output, store::Content::kExport);
  uses.check(flags.overwrite);
}

void setup_export(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* verb =
      app.add_subcommand("export", "weights for serving: no optimizer state, in few bits");
  verb->add_option("-i,--initial_regressor", flags->model, "the model")
      ->type_name("MODEL")
      ->check(not_empty())
      ->required();
  add_export_options(*verb, *flags);
  verb->callback([flags, &exit_code] {
    check_export(*flags);
    modelfile::export_model(flags->model, flags->output, flags->options);
    exit_code = 0;
  });
}

}  // namespace leveret::cli
