/// leveret train: its options, and what is misuse of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "cli/file_uses.h"
#include "cli/learn/train_run.h"
#include "cli/process.h"
#include "cli/textfile.h"
#include "cli/verbs.h"
#include "options/learner_options.h"
#include "options/numbers.h"

namespace leveret::cli {
namespace {

[[noreturn]] void misuse(const std::string& what) { throw CLI::ValidationError(what); }

void check_checkpoints(const TrainOptions& options) {
  if (options.keep_given && !options.save_every.given() && !options.resume) {
    misuse("--keep_checkpoints does nothing without --save_every");
  }
  if (!options.has_position() || options.follow) return;
  const std::string option = options.resume ? "--resume" : "--save_every";
  if (options.final_model.empty()) {
    misuse(options.resume ? "--resume continues from the checkpoints of a model: add -f MODEL"
                          : "--save_every saves next to the model: add -f MODEL");
  }
  if (options.deterministic) {
    misuse(option + " does not work with --deterministic: use leveret-mpi train --deterministic");
  }
  if (options.holdout_after > 0) misuse(option + " does not work with --holdout_after");
  if (options.threads > 1 && !options.input.cache.empty()) {
    misuse(option +
           " with --threads does not work with a cache, as threads read it in any order: leave out "
           "-c");
  }
  if (options.resume && options.threads > 1 && !options.report.predictions.empty()) {
    misuse("--resume with --threads writes no predictions: leave out -p");
  }
}

void check_passes(const TrainOptions& options) {
  check_passes(options.input);
  check_pass_options(options.passes);
  if (options.input.passes == 1) return;
  if (options.holdout_after > 0) {
    misuse(
        "--holdout_after works with one pass: leave it out, as --passes holds every tenth example "
        "out (--holdout_period)");
  }
  if (options.holds_out() && !options.report.predictions.empty()) {
    misuse(
        "-p writes predictions that are made before an example is learned, and --passes learns it "
        "several times: leave out -p and use leveret predict, or add --holdout_off for those of "
        "the first pass");
  }
}

/// Whether a file of this name would be one of the folder's.
bool is_in(const std::string& folder, const std::string& path) {
  std::error_code unknown;
  const std::filesystem::path parent = std::filesystem::absolute(path, unknown).parent_path();
  return !path.empty() && std::filesystem::equivalent(parent, folder, unknown);
}

void check_follow(const TrainOptions& options) {
  const FollowOptions& following = options.following;
  if (!options.follow) {
    const auto needs_follow = [](bool given, const char* option) {
      if (given) misuse(fmt::format("{} does nothing without --follow", option));
    };
    needs_follow(following.keep_models > 0, "--keep_models");
    needs_follow(!following.without.empty(), "--without");
    needs_follow(!following.textfile.empty(), "--textfile");
    needs_follow(following.log.has_value(), "--log");
    return;
  }
  const InputOptions& input = options.input;
  std::error_code unknown;
  if (input.data.size() != 1) {
    misuse("--follow learns the files of one folder as they appear: add -d FOLDER");
  }
  if (!std::filesystem::is_directory(input.data[0], unknown)) {
    const bool is_there = std::filesystem::exists(input.data[0], unknown);
    misuse(fmt::format("--follow: {} is {}", input.data[0],
                       is_there ? "no folder: -d must name the folder whose files are learned"
                                : "missing: make the folder first"));
  }
  if (options.final_model.empty()) misuse("--follow saves the model after each file: add -f MODEL");
  const auto refuse = [](bool given, const char* option) {
    if (given)
      misuse(fmt::format("--follow runs until a signal: it does not work with {}", option));
  };
  refuse(!input.cache.empty(), "-c");
  refuse(input.passes > 1, "--passes");
  refuse(options.holdout_after > 0, "--holdout_after");
  refuse(options.deterministic, "--deterministic");
  if (options.resume || options.keep_given) {
    misuse(
        "--follow continues from -f by itself, and saves there: leave out --resume and "
        "--keep_checkpoints");
  }
  for (const std::string& name : following.without) {
    if (name.find('/') != std::string::npos) {
      misuse("--without names a file of the folder, without the folder: " + name);
    }
  }
  for (const std::string& path : {options.final_model, options.report.predictions,
                                  options.report.metrics, input.quarantine, following.textfile}) {
    if (is_in(input.data[0], path)) {
      misuse(
          fmt::format("{} is in the folder that is followed, and would be learned; name a file "
                      "elsewhere",
                      path));
    }
  }
}

void check_options(const TrainOptions& options, bool allow_mpirun) {
  check_model_name("-f", options.final_model);
  check_passes(options);
  if (options.threads > 1 && options.holdout_after > 0) {
    misuse("--holdout_after counts examples in order: it does not work with --threads");
  }
  if (options.test_then_train > 0 && options.threads > 1) {
    misuse("--test_then_train tests and learns in one thread: it does not work with --threads");
  }
  if (options.test_then_train > 0 && options.deterministic) {
    misuse("--test_then_train does not work with --deterministic");
  }
  if (options.deterministic && options.threads > 1) {
    misuse("--deterministic learns in one thread: it does not work with --threads");
  }
  if (options.pin && options.threads == 1) misuse("--pin does nothing without --threads");
  check_follow(options);
  check_checkpoints(options);
  const long copies = launched_copies();
  if (copies > 1 && !allow_mpirun) {
    misuse(
        fmt::format("mpirun or srun started {} copies of this program, and each would learn and "
                    "save the same: start one with --threads, use leveret-mpi, or add "
                    "--allow_mpirun",
                    copies));
  }
}

void check_files(const TrainOptions& options) {
  FileUses uses;
  uses.add(options.input);
  uses.add_model("-i", options.initial_model);
  uses.add_field_files(options.flags.files());
  if (!options.columns.schema.empty()) uses.add_read("--schema", options.columns.schema);
  uses.add_saved_model("-f", options.final_model);
  add_uses(uses, options.report);
  if (const std::string& textfile = options.following.textfile; !textfile.empty()) {
    uses.add_output("--textfile", textfile, store::Content::kMetrics);
  }
  if (options.report.json) uses.add_result("--json", "-");
  uses.check(options.report.overwrite);
}

int run_train(TrainOptions& options, bool allow_mpirun) {
  settle_input(options.input);
  settle_columns(options.input, options.columns);
  settle_report(options.report);
  check_options(options, allow_mpirun);
  check_files(options);
  if (options.follow) {
    log_as(options.following.log.value_or(LogFormat::kText));
    options.report.shows_progress = options.report.progress_given;
  }
  learn_and_save(options);
  return 0;
}

void add_files(CLI::App& verb, TrainOptions& options) {
  verb.add_option("-i,--initial_regressor", options.initial_model, "continue from this model")
      ->type_name("MODEL")
      ->check(not_empty());
  verb.add_option("-f,--final_regressor", options.final_model, "save the model here")
      ->type_name("MODEL")
      ->check(not_empty());
  verb.add_option_function<std::string>(
          "--save_every",
          [&options](const std::string& text) {
            const std::optional<SaveInterval> interval = SaveInterval::parse(text);
            if (!interval) {
              misuse(fmt::format(
                  "--save_every: {} is neither a number of examples nor a time: give N, "
                  "Ns, Nmin or Nh",
                  text));
            }
            options.save_every = *interval;
          },
          "save a checkpoint in MODEL.checkpoints every N examples, or every time of that length; "
          "needs -f")
      ->type_name("N|Ns|Nmin|Nh");
  verb.add_option_function<std::uint64_t>(
          "--keep_checkpoints",
          [&options](std::uint64_t count) {
            options.keep_checkpoints = count;
            options.keep_given = true;
          },
          "keep N checkpoints, and keep them when the run has ended; default: two, removed at the "
          "end")
      ->type_name("N")
      ->transform(options::within(1, 1'000'000));
  verb.add_flag("--resume", options.resume,
                "continue from the last checkpoint, after the part of the same input that it has "
                "learned; start at the beginning where there is no checkpoint");
}

void add_following(CLI::App& verb, FollowOptions& options) {
  verb.add_option(
          "--keep_models", options.keep_models,
          "with --follow: keep the models of the last N saves in MODEL.kept, each named by the "
          "last file that it has learned")
      ->type_name("N")
      ->transform(options::within(1, 1'000'000));
  verb.add_option("--without", options.without,
                  "with --follow: do not learn this file of the folder; if the model has learned "
                  "it, go back to a kept model; repeat it for other files")
      ->type_name("NAME")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->check(not_empty());
  add_textfile_option(verb, options.textfile, "at each save of --follow");
  add_log_option(verb, options.log);
}

void add_learning(CLI::App& verb, TrainOptions& options) {
  verb.add_option("--holdout_after", options.holdout_after,
                  "learn from the first N examples, only predict the rest")
      ->type_name("N")
      ->transform(options::within(1, std::uint64_t{1} << 62));
  verb.add_option("--test_then_train", options.test_then_train,
                  "predict N examples with what was learned before them, then learn from these; "
                  "and so on")
      ->type_name("N")
      ->transform(options::within(1, 1'000'000'000));
  options::add_max_memory_option(verb, options.max_memory);
  verb.add_flag(
      "--follow", options.follow,
      "-d is a folder: learn its files in the order of their names, as they appear, until a "
      "signal ends it; save after each, or by --save_every");
  add_following(verb, options.following);
  verb.add_flag("--again", options.again,
                "learn all of the input, also files that the model of -i has learned before");
  add_cache_options(verb, options.input);
  add_passes_option(verb, options.input);
  add_pass_options(verb, options.passes);
  options::add_threads_options(verb, options.threads, options.pin);
  verb.add_flag("--deterministic", options.deterministic,
                "the model that leveret-mpi --deterministic learns on 1, 2, 4 or 8 ranks, bit for "
                "bit; needs --batch_size");
}

}  // namespace

void setup_train(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TrainOptions>();
  auto allow_mpirun = std::make_shared<bool>(false);
  CLI::App* verb =
      app.add_subcommand("train", "learn a model in one pass, with progressive validation");
  add_input_options(*verb, options->input);
  add_format_option(*verb, options->input);
  add_column_options(*verb, options->columns);
  add_schema_option(*verb, options->columns);
  add_files(*verb, *options);
  add_report_options(*verb, options->report);
  verb->add_flag("--json", options->report.json,
                 "print one line of JSON at the end: what the run came to");
  add_learning(*verb, *options);
  verb->add_flag("--allow_mpirun", *allow_mpirun,
                 "run as one of several copies that mpirun or srun started");
  options->flags.add_to(*verb);
  verb->callback(
      [options, allow_mpirun, &exit_code] { exit_code = run_train(*options, *allow_mpirun); });
}

}  // namespace leveret::cli
