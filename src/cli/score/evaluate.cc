#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/process.h"
#include "cli/score/evaluation.h"
#include "cli/score/served_model.h"
#include "cli/score/skew_report.h"
#include "cli/status_line.h"
#include "cli/verbs.h"
#include "kernels/dispatch.h"
#include "metrics/metrics.h"
#include "options/numbers.h"
#include "predict/predictor.h"
#include "publish/judge.h"
#include "text/feature_text.h"

namespace leveret::cli {
namespace {

struct EvaluateOptions {
  InputOptions input;
  std::string model;
  bool mmap = false;
  bool json = false;
  bool strict = false;
  bool intervals = false, reliability = false;
  std::string by;
  std::size_t top = 20;

  bool keeps_scores() const { return intervals || reliability || !by.empty(); }
};

/// Keeps of the examples what the details are made of.
class Details {
 public:
  /// Before the model closes the names: the slices' namespace has an id of its own.
  Details(const EvaluateOptions& options, text::NamespaceNames& names) : options_(options) {
    if (!options.by.empty()) by_ = *names.intern(options.by);
  }

  void add(const text::ExampleChunk& chunk, const predict::Outcomes& outcomes) {
    if (!options_.keeps_scores()) return;
    for (std::size_t e = 0; e < outcomes.items.size(); ++e) {
      const predict::Outcome& outcome = outcomes.items[e];
      scores_.add({outcome.probability}, outcome.label, outcome.importance);
      if (options_.by.empty()) continue;
      const std::string slice = text::text_of_namespace(chunk, chunk.examples[e], by_);
      has_slices_ = has_slices_ || !slice.empty();
      slices_.add(slice.empty() ? publish::Judge::kNoSlice : slice, {outcome.probability},
                  outcome.label, outcome.importance);
    }
  }

  EvaluationDetails take() {
    if (!options_.keeps_scores()) return {};
    if (!options_.by.empty() && !has_slices_) {
      throw std::runtime_error("--by " + options_.by + ": no line has a feature of this namespace");
    }
    return {&scores_,
            options_.intervals,
            options_.reliability,
            options_.by,
            std::move(slices_).largest(options_.top),
            processors()};
  }

 private:
  const EvaluateOptions& options_;
  std::uint32_t by_ = 0;
  bool has_slices_ = false;
  metrics::Scores scores_{1};
  metrics::Slices slices_{1};
};

text::ParserOptions parser_of(const EvaluateOptions& options, const model::Model& model) {
  text::ParserOptions parser =
      parser_options(model.spec(), options.input, model.features().plans());
  parser.keep_names = !options.by.empty();
  return parser;
}

int run_evaluate(const EvaluateOptions& options) {
  const ServedModel served(options.model, options.mmap);
  const model::Model& model = *served.get();
  text::NamespaceNames names;
  Details details(options, names);
  // A cache that is made here keeps the names of all namespaces.
  if (options.input.cache.empty()) model.features().close_names(names);
  predict::Predictor predictor(served.get(), names, kernels::active());
  const auto tally = bad_line_tally(options.input);
  const auto source = open_examples(options.input, names, parser_of(options, model), *tally);
  predict::SkewCounter counter(served.get(), names);
  SkewReport skew(options.strict, options.input.quiet);
  StatusLine status(!options.input.quiet);
  status.begin_pass(*source);
  std::uint64_t examples = 0;
  metrics::Metrics metrics(metrics::AucKind::kExact);
  predict::Outcomes outcomes;
  for_each_chunk(*source, *tally, [&](const text::ExampleChunk& chunk) {
    predictor.predict(chunk, 0, chunk.examples.size(), outcomes);
    served.check();
    counter.count(chunk, 0, chunk.examples.size());
    skew.tell(counter);
    examples += chunk.examples.size();
    status.show(examples);
    for (const predict::Outcome& outcome : outcomes.items) {
      metrics.add(outcome.probability, outcome.label, outcome.importance);
    }
    details.add(chunk, outcomes);
    outcomes.clear();
  });
  skew.add(counter);
  const metrics::MetricsSnapshot snapshot = metrics.snapshot();
  EvaluationDetails all = details.take();
  all.more = skew.json();
  const std::string text = evaluation_text(snapshot, options.json, all);
  Output output("");
  output.write(text);
  output.close();
  skew.check();
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
  CLI::Option* by =
      verb->add_option("--by", options->by,
                       "also by slices: what lines have in this namespace; not with -c")
          ->type_name("NS")
          ->check(not_empty());
  verb->add_option("--top", options->top, "with --by: so many slices, those with most examples")
      ->type_name("N")
      ->transform(options::within(1, 1'000'000))
      ->capture_default_str()
      ->needs(by);
  verb->add_flag("--reliability", options->reliability,
                 "also ten bins of predictions: how often there was a click");
  verb->add_flag("--interval", options->intervals,
                 "also 95 % intervals of logloss, AUC and calibration, by the bootstrap");
  add_strict_option(*verb, options->strict);
  add_input_options(*verb, options->input);
  add_cache_options(*verb, options->input);
  verb->callback([options, &exit_code] {
    settle_input(options->input);
    if (!options->by.empty() && !options->input.cache.empty()) {
      throw CLI::ValidationError("--by", "a cache keeps no names of features: leave -c out");
    }
    check_files(options->input, options->model, "-");
    exit_code = run_evaluate(*options);
  });
}

}  // namespace leveret::cli
