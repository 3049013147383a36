#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/look/audit_facts.h"
#include "cli/look/audit_json.h"
#include "cli/look/audit_text.h"
#include "cli/raw_rows.h"
#include "cli/score/figures.h"
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

/// The options that decide which features a line has and how they are hashed.
const std::vector<std::string_view> kFeatureOptions = {
    "hash",   "hash_seed",     "linear",     "interactions", "field",    "keep",
    "ignore", "bit_precision", "noconstant", "numeric",      "transform"};

struct AuditOptions {
  InputOptions input;
  options::SpecFlags flags;
  std::string model;
  bool mmap = false;
  bool explain = false;
  bool json = false;
  std::size_t orders = 16;
};

/// Reads the examples and prints `each(chunk, index, text)` of every one as soon as it is there.
template <class Each>
void print_each(const AuditOptions& options, text::NamespaceNames& names, const spec::Spec& spec,
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
  read_rows_alone(options.input);
  const spec::Spec spec = options.flags.spec();
  text::NamespaceNames names;
  feature::FeatureMap features(spec.map_options(), {});
  feature::FeatureBatch batch;
  batch.keep_parents = true;
  AuditFacts facts(spec, names, features, nullptr);
  AuditedExample audited;
  print_each(options, names, spec,
             [&](const text::ExampleChunk& chunk, std::size_t i, std::string& text) {
               batch.clear();
               if (features.map(chunk, i, 1, batch) == 0) {
                 features.meet(names, chunk, i, true);
                 features.map(chunk, i, 1, batch);
               }
               facts.put_features(chunk, chunk.examples[i], batch, audited);
               if (!options.json) return append_features(audited, spec, false, text);
               nlohmann::ordered_json json;
               put_features(audited, spec, false, json);
               text += json_line(json);
             });
}

void audit_model(const AuditOptions& options) {
  const ServedModel served(options.model, options.mmap);
  const model::Model& model = *served.get();
  read_rows_for(options.input, model, options.model, /*needs_label=*/false);
  const spec::Spec spec = options.flags.spec(model.spec(), options.model);
  text::NamespaceNames names;  // not closed: those that the model does not know are printed, too
  predict::Predictor predictor(served.get(), names, kernels::active());
  predictor.keep_for_audit();
  std::optional<predict::Explainer> explainer;
  if (options.explain) explainer.emplace(served.get(), names, kernels::active());
  AuditFacts facts(spec, names, predictor.features(), &model);
  AuditedExample audited;
  predict::Outcomes outcomes;
  predict::Explanation explanation;
  const auto append_audited = [&](std::string& text) {
    const predict::Outcome& outcome = outcomes.items[0];
    predict::append_prediction(text, outcome.probability, outcomes.tag(outcome));
    append_features(audited, spec, true, text);
    append_scores(audited, text);
    if (options.explain) append_explanation(explanation, names, text);
  };
  const auto append_json = [&](std::string& text) {
    const predict::Outcome& outcome = outcomes.items[0];
    nlohmann::ordered_json json;
    put_scores(audited, outcome, outcomes.tag(outcome), json);
    if (options.explain) put_explanation(explanation, names, json);
    put_features(audited, spec, true, json);
    text += json_line(json);
  };
  print_each(options, names, spec,
             [&](const text::ExampleChunk& chunk, std::size_t i, std::string& text) {
               outcomes.clear();
               predictor.predict(chunk, i, 1, outcomes);
               facts.put_features(chunk, chunk.examples[i], predictor.batch(), audited);
               facts.put_scores(predictor.tape(), audited);
               if (explainer) explanation = explainer->explain(chunk, i, options.orders);
               options.json ? append_json(text) : append_audited(text);
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
  CLI::App* verb =
      app.add_subcommand("audit", "the features of each line, and with a model their weights");
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
  verb->add_flag("--json", options->json, "one line of JSON for each example");
  add_input_options(*verb, options->input);
  add_format_option(*verb, options->input);
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
