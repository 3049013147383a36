#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/look/audit_text.h"
#include "cli/score/served_model.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "kernels/dispatch.h"
#include "options/numbers.h"
#include "options/spec_flags.h"
#include "predict/explainer.h"
#include "predict/prediction_text.h"
#include "predict/predictor.h"

namespace leveret::cli {
namespace {

/// What decides which features a line has and how they are hashed.
const std::vector<std::string_view> kFeatureOptions = {
    "hash", "hash_seed", "linear",        "interactions", "field",
    "keep", "ignore",    "bit_precision", "noconstant",   "transform"};

struct AuditOptions {
  InputOptions input;
  options::SpecFlags flags;
  std::string model;
  bool mmap = false;
  bool explain = false;
  std::size_t orders = 16;
};

/// Reads the examples and prints `each(chunk, index, text)` of every one as soon as it is there.
template <class Each>
void print_each(const AuditOptions& options, text::NamespaceNames& names, const model::Spec& spec,
                Each each) {
  text::ParserOptions parser = parser_options(spec, options.input);
  parser.keep_names = true;
  Output output("");
  const auto tally = bad_line_tally(options.input);
  const auto source = open_text(options.input, names, parser);
  StopOnSignal stop(*source, StopOnSignal::Then::kEndSoon);
  std::string text;
  for_each_chunk(*source, *tally, [&](const text::ExampleChunk& chunk) {
    for (std::size_t i = 0; i < chunk.examples.size(); ++i) {
      each(chunk, i, text);
      output.write(text);
      text.clear();
    }
    output.flush();
  });
  output.close();
}

void audit_features(const AuditOptions& options) {
  const model::Spec spec = options.flags.spec();
  text::NamespaceNames names;
  feature::FeatureMap features(spec.map_options(), {});
  feature::FeatureBatch batch;
  batch.keep_parents = true;
  AuditText audit(spec, names, features, nullptr);
  print_each(options, names, spec,
             [&](const text::ExampleChunk& chunk, std::size_t i, std::string& text) {
               batch.clear();
               if (features.map(chunk, i, 1, batch) == 0) {
                 features.meet(names, chunk, i, true);
                 features.map(chunk, i, 1, batch);
               }
               audit.append_features(chunk, chunk.examples[i], batch, text);
             });
}

void audit_model(const AuditOptions& options) {
  const ServedModel served(options.model, options.mmap);
  const model::Model& model = *served.get();
  const model::Spec spec = options.flags.spec(model.spec(), options.model);
  text::NamespaceNames names;  // not closed: those that the model does not know are printed, too
  predict::Predictor predictor(served.get(), names, kernels::active());
  predictor.keep_for_audit();
  predict::Explainer explainer(served.get(), names, kernels::active());
  AuditText audit(spec, names, predictor.features(), &model);
  predict::Outcomes outcomes;
  print_each(options, names, spec,
             [&](const text::ExampleChunk& chunk, std::size_t i, std::string& text) {
               outcomes.clear();
               predictor.predict(chunk, i, 1, outcomes);
               const predict::Outcome& outcome = outcomes.items[0];
               predict::append_prediction(text, outcome.probability, outcomes.tag(outcome));
               audit.append_features(chunk, chunk.examples[i], predictor.batch(), text);
               audit.append_heads(predictor.tape(), text);
               if (options.explain) {
                 audit.append_explanation(explainer.explain(chunk, i, options.orders), text);
               }
               served.check();
             });
}

void check_files(const AuditOptions& options) {
  FileUses uses;
  uses.add(options.input);
  uses.add_model("-i", options.model);
  uses.add_field_files(options.flags.files());
  uses.add_result("", "-");
  uses.check();
}

}  // namespace

void setup_audit(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* verb = app.add_subcommand(
      "audit", "the features of each line, their hashes and values; with a model their weights");
  CLI::Option* model =
      verb->add_option("-i,--initial_regressor", options->model,
                       "show its predictions, and what each feature, head and field adds to them")
          ->type_name("MODEL")
          ->check(not_empty());
  add_mmap_option(*verb, *model, options->mmap);
  CLI::Option* explain =
      verb->add_flag("--explain", options->explain,
                     "also what each namespace adds: Shapley values, which sum to the log-odds")
          ->needs(model);
  verb->add_option("--orders", options->orders,
                   "with --explain: random orders of namespaces; more cost more and err less")
      ->type_name("N")
      ->transform(options::within(1, 100'000))
      ->capture_default_str()
      ->needs(explain);
  add_input_options(*verb, options->input);
  options->flags.add_to(*verb, kFeatureOptions);
  verb->callback([options, &exit_code] {
    settle_input(options->input);
    check_files(*options);
    if (options->model.empty()) {
      audit_features(*options);
    } else {
      audit_model(*options);
    }
    exit_code = 0;
  });
}

}  // namespace leveret::cli
