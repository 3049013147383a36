#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/score/evaluation.h"
#include "cli/score/served_model.h"
#include "cli/verbs.h"
#include "kernels/dispatch.h"
#include "metrics/metrics.h"
#include "predict/predictor.h"

namespace leveret::cli {
namespace {

struct EvaluateOptions {
  InputOptions input;
  std::string model;
  bool mmap = false;
  bool json = false;
};

int run_evaluate(const EvaluateOptions& options) {
  const ServedModel served(options.model, options.mmap);
  const model::Model& model = *served.get();
  text::NamespaceNames names;
  // A cache that is made here keeps the names of all namespaces.
  if (options.input.cache.empty()) model.features().close_names(names);
  predict::Predictor predictor(served.get(), names, kernels::active());
  const auto tally = bad_line_tally(options.input);
  const auto source =
      open_examples(options.input, names,
                    parser_options(model.spec(), options.input, model.features().plans()), *tally);
  metrics::Metrics metrics(metrics::AucKind::kExact);
  predict::Outcomes outcomes;
  for_each_chunk(*source, *tally, [&](const text::ExampleChunk& chunk) {
    predictor.predict(chunk, 0, chunk.examples.size(), outcomes);
    served.check();
    for (const predict::Outcome& outcome : outcomes.items) {
      metrics.add(outcome.probability, outcome.label, outcome.importance);
    }
    outcomes.clear();
  });
  const metrics::MetricsSnapshot snapshot = metrics.snapshot();
  const std::string text = evaluation_text(snapshot, options.json);
  Output output("");
  output.write(text);
  output.close();
  return 0;
}

}  // namespace

void setup_evaluate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* verb = app.add_subcommand(
      "evaluate", "logloss, AUC, NE, RIG and calibration over labelled examples, no learning");
  CLI::Option* model = verb->add_option("-i,--initial_regressor", options->model, "the model")
                           ->type_name("MODEL")
                           ->check(not_empty())
                           ->required();
  add_mmap_option(*verb, *model, options->mmap);
  verb->add_flag("--json", options->json, "one line of JSON");
  add_input_options(*verb, options->input);
  add_cache_options(*verb, options->input);
  verb->callback([options, &exit_code] {
    settle_input(options->input);
    check_files(options->input, options->model, "-");
    exit_code = run_evaluate(*options);
  });
}

}  // namespace leveret::cli
