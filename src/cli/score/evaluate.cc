#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/process.h"
#include "cli/raw_rows.h"
#include "cli/score/evaluation.h"
#include "cli/score/served_model.h"
#include "cli/score/skew_report.h"
#include "cli/score/slice_options.h"
#include "cli/status_line.h"
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
  bool strict = false;
  bool intervals = false, reliability = false;
  SliceOptions slices;

  bool keeps_scores() const { return intervals || reliability || !slices.by.empty(); }
};

/// The figures of predictions: all of them are kept where the details are made of them.
class Evaluation {
 public:
  /// Before the model closes the names (LineSlices).
  Evaluation(const EvaluateOptions& options, text::NamespaceNames& names)
      : options_(options), slices_(options.slices.by, 1, names) {}

  void add(const text::ExampleChunk& chunk, const predict::Outcomes& outcomes) {
    for (std::size_t e = 0; e < outcomes.items.size(); ++e) {
      const predict::Outcome& outcome = outcomes.items[e];
      if (!options_.keeps_scores()) {
        metrics_.add(outcome.probability, outcome.label, outcome.importance);
        continue;
      }
      scores_.add({outcome.probability}, outcome.label, outcome.importance);
      slices_.add(chunk, chunk.examples[e], {outcome.probability});
    }
  }

  std::string text(nlohmann::ordered_json skew) {
    EvaluationDetails details;
    details.skew = std::move(skew);
    if (!options_.keeps_scores()) {
      return evaluation_text(metrics_.snapshot(), options_.json, details);
    }
    details.scores = &scores_;
    details.intervals = options_.intervals;
    details.reliability = options_.reliability;
    details.by = options_.slices.by;
    details.slices = take_slices(slices_, options_.slices);
    details.threads = processors();
    return evaluation_text(scores_.snapshot(0), options_.json, details);
  }

 private:
  const EvaluateOptions& options_;
  metrics::Metrics metrics_{metrics::AucKind::kExact};
  metrics::Scores scores_{1};
  publish::LineSlices slices_;
};

text::ParserOptions parser_of(const EvaluateOptions& options, const model::Model& model) {
  text::ParserOptions parser =
      parser_options(model.spec(), options.input, model.features().plans());
  parser.keep_names = !options.slices.by.empty();
  return parser;
}

int run_evaluate(const EvaluateOptions& options) {
  const ServedModel served(options.model, options.mmap);
  const model::Model& model = *served.get();
  text::NamespaceNames names;
  Evaluation evaluation(options, names);
  // A cache that is made here keeps the names of all namespaces.
  if (options.input.cache.empty()) model.features().close_names(names);
  predict::Predictor predictor(served.get(), names, kernels::active());
  read_rows_for(options.input, model, options.model, /*needs_label=*/true);
  const auto tally = bad_line_tally(options.input);
  const auto source = open_examples(options.input, names, parser_of(options, model), *tally);
  skew::SkewCounter counter(served.get(), names);
  SkewReport skew(options.strict, options.input.quiet);
  StatusLine status(!options.input.quiet);
  status.begin_pass(*source);
  std::uint64_t examples = 0;
  predict::Outcomes outcomes;
  for_each_chunk(*source, *tally, [&](const text::ExampleChunk& chunk) {
    predictor.predict(chunk, 0, chunk.examples.size(), outcomes, &counter);
    served.check();
    skew.tell(counter);
    examples += chunk.examples.size();
    status.show(examples);
    evaluation.add(chunk, outcomes);
    outcomes.clear();
  });
  skew.add(counter);
  const std::string text = evaluation.text(skew.json());
  Output output("");
  output.write(text);
  output.close();
  skew.check();
  return 0;
}

}  // namespace

void setup_evaluate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* verb =
      app.add_subcommand("evaluate", "logloss, AUC, NE and calibration over labelled lines");
  CLI::Option* model = verb->add_option("-i,--initial_regressor", options->model, "the model")
                           ->type_name("MODEL")
                           ->check(not_empty())
                           ->required();
  add_mmap_option(*verb, *model, options->mmap);
  verb->add_flag("--json", options->json, "one line of JSON");
  add_slice_options(*verb, options->slices, "; not with -c");
  verb->add_flag("--reliability", options->reliability,
                 "also ten bins of predictions: how often there was a click");
  verb->add_flag("--interval", options->intervals,
                 "also 95 % intervals of logloss, AUC and calibration, by the bootstrap");
  add_strict_option(*verb, options->strict);
  add_input_options(*verb, options->input);
  add_cache_options(*verb, options->input);
  add_format_option(*verb, options->input);
  verb->callback([options, &exit_code] {
    settle_input(options->input);
    if (!options->slices.by.empty() && !options->input.cache.empty()) {
      throw CLI::ValidationError("--by", "a cache keeps no names of features: leave -c out");
    }
    check_files(options->input, options->model, "-");
    exit_code = run_evaluate(*options);
  });
}

}  // namespace leveret::cli
