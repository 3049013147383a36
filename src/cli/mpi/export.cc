/// leveret-mpi export: weights for serving, of a folder of shards.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/input.h"
#include "cli/mpi/verbs.h"
#include "cli/ship/export_flags.h"
#include "dist/folder/gather.h"
#include "dist/folder/shard_files.h"
#include "files/stale_files.h"
#include "files/temporary_names.h"
#include "kernels/dispatch.h"
#include "modelfile/model_io.h"

namespace leveret::cli {
namespace {

/// The whole model in a file beside the export: it goes when the export is there. One that is left
/// by kill -9 goes with the next export to the same place, which is why its name is that of a
/// temporary file, and why it is locked (files/stale_files.h).
class GatheredFile {
 public:
  GatheredFile(const dist::ShardFolder& folder, const std::string& beside)
      : name_(fmt::format("{}{}-gathered", files::temporary_prefix(beside), getpid())) {
    files::remove_stale_files(beside);
    {
      const files::TemporaryStep step;
      name_.list(step);
    }
    const std::uint64_t memory = modelfile::default_memory_limit();
    const std::unique_ptr<dist::ShardedModel> shards =
        folder.load(folder.spec(), 0, folder.shards(), memory, kernels::active());
    modelfile::save_model(dist::gather(*shards, memory), path());
    lock_ = open(path().c_str(), O_RDONLY | O_CLOEXEC);
    if (lock_ >= 0) flock(lock_, LOCK_EX);
  }
  ~GatheredFile() {
    {
      const files::TemporaryStep step;
      unlink(path().c_str());
      name_.forget(step);
    }
    if (lock_ >= 0) close(lock_);
  }
  GatheredFile(const GatheredFile&) = delete;
  GatheredFile& operator=(const GatheredFile&) = delete;

  const std::string& path() const { return name_.path(); }

 private:
  files::TemporaryName name_;
  int lock_ = -1;
};

}  // namespace

void setup_mpi_export(CLI::App& app, dist::Communicator& ranks, int& exit_code) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* verb = app.add_subcommand(
      "export", "weights for serving, of a folder: no optimizer state, in few bits");
  verb->add_option("-i,--initial_regressor", flags->model, "the folder, which train -f has made")
      ->type_name("FOLDER")
      ->check(not_empty())
      ->required();
  add_export_options(*verb, *flags);
  verb->callback([flags, &ranks, &exit_code] {
    if (ranks.size() > 1) {
      throw CLI::ValidationError("export is the work of one process; run it without mpirun");
    }
    check_export(*flags);
    const GatheredFile whole(dist::ShardFolder(flags->model), flags->output);
    modelfile::export_model(whole.path(), flags->output, flags->options);
    exit_code = 0;
  });
}

}  // namespace leveret::cli
