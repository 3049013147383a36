/// leveret train: its options, and what is misuse of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/file_uses.h"
#include "cli/learn/train_run.h"
#include "cli/numbers.h"
#include "cli/process.h"
#include "cli/verbs.h"

namespace leveret::cli {
namespace {

[[noreturn]] void misuse(const std::string& what) { throw CLI::ValidationError(what); }

void check_options(const TrainOptions& options, bool allow_mpirun) {
  check_model_name("-f", options.final_model);
  check_passes(options.input);
  if (options.threads > 1 && options.holdout_after > 0) {
    misuse("--holdout_after counts examples in order: not with --threads");
  }
  if (options.deterministic && options.threads > 1) {
    misuse("--deterministic learns in one thread: not with --threads");
  }
  if (options.pin && options.threads == 1) misuse("--pin changes nothing: it needs --threads");
  const long copies = launched_copies();
  if (copies > 1 && !allow_mpirun) {
    misuse(
        fmt::format("mpirun or srun started {} copies of this program, which would each learn "
                    "and save the same; start one, with --threads, or give --allow_mpirun",
                    copies));
  }
}

void check_files(const TrainOptions& options) {
  FileUses uses;
  uses.add(options.input);
  uses.add_model("-i", options.initial_model);
  options.flags.add_uses(uses);
  uses.add_saved_model("-f", options.final_model);
  add_uses(uses, options.report);
  uses.check();
}

int run_train(TrainOptions& options, bool allow_mpirun) {
  settle_input(options.input);
  settle_report(options.report);
  check_options(options, allow_mpirun);
  check_files(options);
  learn_and_save(options);
  return 0;
}

void add_files(CLI::App& verb, TrainOptions& options) {
  verb.add_option("-i,--initial_regressor", options.initial_model, "go on with this model")
      ->type_name("MODEL")
      ->check(not_empty());
  verb.add_option("-f,--final_regressor", options.final_model, "save the model here")
      ->type_name("MODEL")
      ->check(not_empty());
}

void add_learning(CLI::App& verb, TrainOptions& options) {
  verb.add_option("--holdout_after", options.holdout_after,
                  "learn from the first N examples, only predict the rest")
      ->type_name("N")
      ->transform(within(1, std::uint64_t{1} << 62));
  verb.add_option("--max_memory", options.max_memory,
                  "bytes for all tables (K, M, G); then new features share a row; default: three "
                  "quarters of the machine's, at most half of ulimit -v")
      ->type_name("N")
      ->transform(bytes_within(1, std::uint64_t{1} << 62));
  add_cache_options(verb, options.input);
  add_passes_option(verb, options.input);
  verb.add_option("--threads", options.threads,
                  "threads that learn together (hogwild); more than 1 is not reproducible")
      ->type_name("N")
      ->transform(within(1, 1024))
      ->capture_default_str();
  verb.add_flag("--pin", options.pin, "each thread on a processor of its own");
  verb.add_flag("--deterministic", options.deterministic,
                "the model that leveret-mpi --deterministic learns on 1, 2, 4 or 8 ranks, bit for "
                "bit; needs --batch_size");
}

}  // namespace

void setup_train(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TrainOptions>();
  auto allow_mpirun = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("train", "learn a model; progressive validation on stderr");
  add_input_options(*verb, options->input);
  add_files(*verb, *options);
  add_report_options(*verb, options->report);
  add_learning(*verb, *options);
  verb->add_flag("--allow_mpirun", *allow_mpirun,
                 "run as one of several copies that mpirun or srun started");
  options->flags.add_to(*verb);
  verb->callback(
      [options, allow_mpirun, &exit_code] { exit_code = run_train(*options, *allow_mpirun); });
}

}  // namespace leveret::cli
