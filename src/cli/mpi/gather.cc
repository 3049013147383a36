/// leveret-mpi gather: one ordinary model file of a folder of shards.
#include "dist/folder/gather.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/input.h"
#include "cli/mpi/verbs.h"
#include "dist/folder/shard_files.h"
#include "dist/talk/agreement.h"
#include "kernels/dispatch.h"
#include "modelfile/model_io.h"

namespace leveret::cli {
namespace {

struct GatherOptions {
  std::string folder, output;
  bool overwrite = false;
};

void gather(const GatherOptions& options) {
  FileUses uses;
  uses.add_model("-i", options.folder);
  uses.add_saved_model("-o", options.output);
  uses.check(options.overwrite);
  check_model_name("-o", options.output);
  const dist::ShardFolder folder(options.folder);
  // As for a model that is loaded: what a file holds has room.
  const std::uint64_t memory = modelfile::default_memory_limit();
  const std::unique_ptr<dist::ShardedModel> shards =
      folder.load(folder.spec(), 0, folder.shards(), memory, kernels::active());
  modelfile::save_model(dist::gather(*shards, memory), options.output);
}

}  // namespace

void setup_mpi_gather(CLI::App& app, dist::Communicator& ranks, int& exit_code) {
  auto options = std::make_shared<GatherOptions>();
  CLI::App* verb =
      app.add_subcommand("gather", "one ordinary model file of a folder that train -f has made");
  verb->add_option("-i,--initial_regressor", options->folder, "the folder")
      ->type_name("FOLDER")
      ->check(not_empty())
      ->required();
  verb->add_option("-o,--output", options->output, "the model")
      ->type_name("MODEL")
      ->check(not_empty())
      ->required();
  add_overwrite_option(*verb, options->overwrite);
  verb->callback([options, &ranks, &exit_code] {
    if (ranks.size() > 1) {
      throw CLI::ValidationError("gather is the work of one process; run it without mpirun");
    }
    gather(*options);
    exit_code = 0;
  });
}

}  // namespace leveret::cli
