/// leveret-mpi train: its options, and what is misuse of them.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/mpi/train_run.h"
#include "cli/mpi/verbs.h"
#include "options/numbers.h"

namespace leveret::cli {
namespace {

void check_options(const MpiTrainOptions& options, const dist::Communicator& ranks) {
  check_passes(options.input);
  if (options.passes.holds_out(options.input.passes)) {
    throw CLI::ValidationError(
        "leveret-mpi cannot hold out examples to find the best pass: add --holdout_off and keep "
        "the "
        "last pass's model, or use leveret train --passes");
  }
  if (options.final_model.empty() && (options.resume || options.save_every > 0)) {
    throw CLI::ValidationError(
        options.resume ? "--resume continues from the folder of the model: add -f FOLDER"
                       : "--save_every saves in the folder of the model: add -f FOLDER");
  }
  const unsigned size = ranks.size();
  if (options.deterministic && size != 1 && size != 2 && size != 4 && size != 8) {
    throw CLI::ValidationError(
        "--deterministic learns in 8 shards: start 1, 2, 4 or 8 processes (mpirun -n)");
  }
  if (options.deterministic && options.wire_bits != 32) {
    throw CLI::ValidationError(
        "--deterministic and --wire_bits 16 contradict each other: rounding between processes "
        "depends on their number");
  }
}

void check_mesh_options(const MpiTrainOptions& options) {
  const auto refuse = [](bool given, const std::string& option) {
    if (given) throw CLI::ValidationError("--strategy mesh does not work with " + option);
  };
  refuse(!options.initial_model.empty(), "-i: it starts with a new model");
  refuse(options.save_every > 0 || options.resume, "checkpoints");
  refuse(options.deterministic, "--deterministic");
  refuse(options.wire_bits != 32, "--wire_bits 16: it sends no partial sums");
  refuse(options.explain_plan, "--explain_plan: it has no plan");
}

void add_files(CLI::App& verb, MpiTrainOptions& options) {
  verb.add_option("-i,--initial_regressor", options.initial_model,
                  "continue from this model: a file, or a folder that -f has made")
      ->type_name("MODEL")
      ->check(not_empty());
  verb.add_option("-f,--final_regressor", options.final_model,
                  "save the model in this folder, a file for each shard; of a mesh in one file")
      ->type_name("FOLDER")
      ->check(not_empty());
  verb.add_option("--save_every", options.save_every,
                  "save a checkpoint there every N examples, at the end of a batch; needs -f")
      ->type_name("N")
      ->transform(options::within(1, std::uint64_t{1} << 62));
  verb.add_flag("--resume", options.resume,
                "continue from the model or checkpoint in the folder of -f, after the examples of "
                "the same input that it has learned; start at the beginning where there is none");
}

void add_learning(CLI::App& verb, MpiTrainOptions& options) {
  verb.add_option_function<std::string>(
          "--strategy",
          [&options](const std::string& name) {
            options.strategy = name == "mesh" ? Strategy::kMesh : Strategy::kDes;
          },
          "des: processes exchange partial sums; mesh: weights and gradients, for comparison")
      ->type_name("NAME")
      ->check(options::one_of(std::vector<std::string>{"des", "mesh"}))
      ->default_str("des");
  verb.add_flag("--deterministic", options.deterministic,
                "the same model, bit by bit, from 1, 2, 4 and 8 processes, and from leveret train "
                "--deterministic");
  verb.add_option("--wire_bits", options.wire_bits,
                  "bits of a partial sum on the network: 32, or 16 with stochastic rounding")
      ->type_name("N")
      ->transform(options::one_of({32, 16}))
      ->capture_default_str();
  verb.add_flag("--explain_plan", options.explain_plan,
                "say which rank holds what, and what each block sends");
  verb.add_option("--max_memory", options.max_memory,
                  "bytes for the tables of each process (K, M, G), with --deterministic of all; "
                  "then new features share a row; default: an equal share of three quarters of "
                  "the machine's")
      ->type_name("N")
      ->transform(options::bytes_within(1, std::uint64_t{1} << 62));
  add_cache_options(verb, options.input);
  add_passes_option(verb, options.input);
  add_holdout_off(verb, options.passes);
}

}  // namespace

void setup_mpi_train(CLI::App& app, dist::Communicator& ranks, int& exit_code) {
  auto options = std::make_shared<MpiTrainOptions>();
  CLI::App* verb = app.add_subcommand(
      "train", "learn a model that lies on all processes; rank 0 reads and reports");
  add_input_options(*verb, options->input);
  add_files(*verb, *options);
  add_report_options(*verb, options->report);
  add_learning(*verb, *options);
  options->flags.add_to(*verb);
  verb->get_option("--batch_size")->default_str(std::to_string(MpiTrainOptions::kBatchSize));
  verb->callback([options, &ranks, &exit_code] {
    settle_report(options->report);
    check_options(*options, ranks);
    if (options->strategy == Strategy::kMesh) check_mesh_options(*options);
    learn_together(*options, ranks);
    exit_code = 0;
  });
}

}  // namespace leveret::cli
