/// leveret-mpi predict and evaluate: what a folder of shards says, and what that is worth.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/file_uses.h"
#include "cli/mpi/predict_run.h"
#include "cli/mpi/verbs.h"
#include "cli/score/evaluation.h"
#include "cli/score/results.h"

namespace leveret::cli {
namespace {

struct ScoreOptions {
  InputOptions input;
  std::string folder;
  ResultOptions results;  ///< of predict
  bool json = false;      ///< of evaluate
};

void add_folder(CLI::App& verb, ScoreOptions& options) {
  verb.add_option("-i,--initial_regressor", options.folder, "the folder, which train -f has made")
      ->type_name("FOLDER")
      ->check(not_empty())
      ->required();
}

void check_predict(const ScoreOptions& options) {
  FileUses uses;
  uses.add(options.input);
  uses.add_model("-i", options.folder);
  add_results(uses, options.results);
  uses.check(options.results.overwrite);
}

void predict(ScoreOptions& options, dist::Communicator& ranks) {
  std::vector<std::unique_ptr<Result>> results;
  ScoreUser user;
  user.open = [&] { results = open_results(options.results, 1); };
  user.expect = [&](const text::ExampleChunk& chunk) {
    for (const auto& result : results) result->answers.expect(chunk);
  };
  user.add = [&](predict::Outcomes& outcomes) {
    for (const auto& result : results) {
      result->answers.add(outcomes);
      result->write();
    }
  };
  user.close = [&](bool stopped) {
    for (const auto& result : results) {
      check_whole(*result, stopped);
      result->write();
      result->output.close();
    }
  };
  score_together(
      options.input, options.folder, ranks, [&] { check_predict(options); }, user);
}

void evaluate(ScoreOptions& options, dist::Communicator& ranks) {
  metrics::Metrics metrics(metrics::AucKind::kExact);
  ScoreUser user;
  user.open = [] {};
  user.expect = [](const text::ExampleChunk&) {};
  user.add = [&](predict::Outcomes& outcomes) {
    for (const predict::Outcome& outcome : outcomes.items) {
      metrics.add(outcome.probability, outcome.label, outcome.importance);
    }
  };
  user.close = [&](bool) {
    const std::string text = evaluation_text(metrics.snapshot(), options.json);
    Output output("");
    output.write(text);
    output.close();
  };
  const auto check = [&] { check_files(options.input, options.folder, "-"); };
  score_together(options.input, options.folder, ranks, check, user);
}

}  // namespace

void setup_mpi_predict(CLI::App& app, dist::Communicator& ranks, int& exit_code) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* verb = app.add_subcommand(
      "predict", "one probability per line (and its tag), by a folder of shards; no learning");
  options->input.bad_lines = "skip";
  add_folder(*verb, *options);
  add_result_options(*verb, options->results);
  verb->add_flag("--quiet", options->input.quiet, "no reports of bad lines");
  add_input_options(*verb, options->input);
  verb->get_option("--bad_lines")->description("fail, skip or max=N; default: skip");
  add_cache_options(*verb, options->input);
  verb->callback([options, &ranks, &exit_code] {
    predict(*options, ranks);
    exit_code = 0;
  });
}

void setup_mpi_evaluate(CLI::App& app, dist::Communicator& ranks, int& exit_code) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* verb = app.add_subcommand(
      "evaluate", "logloss, AUC, NE, RIG and calibration of a folder of shards; no learning");
  add_folder(*verb, *options);
  verb->add_flag("--json", options->json, "one line of JSON");
  add_input_options(*verb, options->input);
  add_cache_options(*verb, options->input);
  verb->callback([options, &ranks, &exit_code] {
    evaluate(*options, ranks);
    exit_code = 0;
  });
}

}  // namespace leveret::cli
