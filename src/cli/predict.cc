#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/served_model.h"
#include "cli/verbs.h"
#include "kernels/dispatch.h"
#include "predict/predictor.h"
#include "train/answers.h"

namespace leveret::cli {
namespace {

struct PredictOptions {
  InputOptions input;
  std::string model, predictions;
  bool mmap = false;
};

int run_predict(const PredictOptions& options) {
  const ServedModel served(options.model, options.mmap);
  const model::Model& model = *served.get();
  Output output(options.predictions, Output::File::kWhole);
  text::NamespaceNames names;
  // A cache that is made here keeps the names of all namespaces.
  if (options.input.cache.empty()) model.features().close_names(names);
  predict::Predictor predictor(served.get(), names, kernels::active());
  const auto tally = bad_line_tally(options.input);
  const auto source =
      open_examples(options.input, names, parser_options(model.spec(), options.input), *tally);
  StopOnSignal stop(*source, StopOnSignal::Then::kEndSoon);
  train::Answers answers;
  predict::Outcomes outcomes;
  std::string lines;
  for_each_chunk(*source, *tally, [&](const text::ExampleChunk& chunk) {
    answers.expect(chunk);
    predictor.predict(chunk, 0, chunk.examples.size(), outcomes);
    served.check();
    answers.add(outcomes);
    answers.take(lines);
    output.write(lines);
    output.flush();  // a coprocess waits for its answer
    lines.clear();
    outcomes.clear();
  });
  if (stop.stopped() && output.appears_at_close()) {
    throw std::runtime_error(
        fmt::format("stopped by a signal: the predictions are not whole, and {} is as it was",
                    options.predictions));
  }
  output.close();
  return 0;
}

}  // namespace

void setup_predict(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* verb =
      app.add_subcommand("predict", "one probability per line (and its tag), no learning");
  options->input.bad_lines = "skip";
  CLI::Option* model = verb->add_option("-i,--initial_regressor", options->model, "the model")
                           ->type_name("MODEL")
                           ->check(not_empty())
                           ->required();
  add_mmap_option(*verb, *model, options->mmap);
  verb->add_option("-p,--predictions", options->predictions, "write here instead of stdout")
      ->type_name("FILE")
      ->check(not_empty());
  add_input_options(*verb, options->input);
  verb->get_option("--bad_lines")->description("fail, skip or max=N; default: skip");
  add_cache_options(*verb, options->input);
  verb->callback([options, &exit_code] {
    settle_input(options->input);
    check_files(options->input, options->model, options->predictions);
    exit_code = run_predict(*options);
  });
}

}  // namespace leveret::cli
