#include <CLI/CLI.hpp>
#include <memory>

#include "cli/file_uses.h"
#include "cli/raw_rows.h"
#include "cli/score/context_option.h"
#include "cli/score/predict_run.h"
#include "cli/score/served_model.h"
#include "cli/score/skew_report.h"
#include "cli/verbs.h"
#include "options/numbers.h"

namespace leveret::cli {
namespace {

void check_predict(const PredictOptions& options) {
  FileUses uses;
  uses.add(options.input);
  uses.add_model("-i", options.model);
  if (!options.watch.empty()) uses.add_read("--watch", options.watch);
  add_results(uses, options.results);
  uses.check(options.results.overwrite);
}

void add_context_options(CLI::App& verb, PredictOptions& options) {
  add_context_option(verb, options.context,
                     "namespaces that lines which follow each other share; computed once for all "
                     "of them");
  verb.add_flag("--context_lines", options.context_lines,
                "a line with the context, a line for each candidate, an empty line, and so on")
      ->needs("--context");
}

}  // namespace

void setup_predict(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* verb = app.add_subcommand("predict", "a probability for each line, and its tag");
  options->input.bad_lines = "skip";
  CLI::Option* model = verb->add_option("-i,--initial_regressor", options->model, "the model")
                           ->type_name("MODEL")
                           ->check(not_empty())
                           ->required();
  add_mmap_option(*verb, *model, options->mmap);
  verb->add_option(
          "--watch", options->watch,
          "take new models from this file or published folder while it runs; SIGHUP: look now")
      ->type_name("PATH")
      ->check(not_empty())
      ->excludes("--mmap");
  add_result_options(*verb, options->results);
  add_context_options(*verb, *options);
  verb->add_option("--threads", options->threads,
                   "threads that predict; the output keeps the order of the input")
      ->type_name("N")
      ->transform(options::within(1, 256))
      ->capture_default_str();
  add_strict_option(*verb, options->strict);
  verb->add_flag("--quiet", options->input.quiet, "no reports of bad lines and skew");
  add_input_options(*verb, options->input);
  verb->get_option("--bad_lines")->description("fail, skip or max=N; default: skip");
  add_cache_options(*verb, options->input);
  add_format_option(*verb, options->input);
  verb->callback([options, &exit_code] {
    settle_input(options->input);
    split_context(options->context);
    if (options->context_lines && !options->input.cache.empty()) {
      throw CLI::ValidationError("--context_lines reads text: not with -c");
    }
    if (!options->watch.empty() && !options->input.cache.empty()) {
      throw CLI::ValidationError("--watch reads text: not with -c");
    }
    check_predict(*options);
    predict_all(*options);
    exit_code = 0;
  });
}

}  // namespace leveret::cli
