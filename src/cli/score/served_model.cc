#include "cli/score/served_model.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>

#include "files/temporary_names.h"
#include "modelfile/model_io.h"

namespace leveret::cli {
namespace {

// For the signal handler. Messages are made before, as it may not.
const store::ModelFile* mapped_file;
std::string change_message, disk_message;

void on_fault(int signal) {
  const bool changed = mapped_file->changed();
  if (!changed && signal == SIGSEGV) {  // a bug of ours: it comes again, and is not hidden
    std::signal(signal, SIG_DFL);
    return;
  }
  const std::string& message = changed ? change_message : disk_message;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  files::remove_temporaries();
  _exit(1);
}

}  // namespace

FaultHandler::FaultHandler(const store::ModelFile& mapped) {
  mapped_file = &mapped;
  change_message = "leveret: error: " + mapped.change_message() + "\n";
  disk_message = "leveret: error: " + mapped.path() +
                 ": cannot read: the disk fails; check it (dmesg says more), or copy the file "
                 "again\n";
  struct sigaction action {};
  action.sa_handler = on_fault;
  sigaction(SIGBUS, &action, nullptr);
  sigaction(SIGSEGV, &action, nullptr);
}

FaultHandler::~FaultHandler() {
  std::signal(SIGBUS, SIG_DFL);
  std::signal(SIGSEGV, SIG_DFL);
  mapped_file = nullptr;
}

void add_mmap_option(CLI::App& verb, CLI::Option& model, bool& mmap) {
  verb.add_flag("--mmap", mmap,
                "map the model instead of reading it; its file must not be changed meanwhile")
      ->needs(&model);
}

ServedModel::ServedModel(const std::string& path, bool mmap)
    : file_(store::ModelFile::open(path)),
      handler_(mmap ? std::optional<FaultHandler>(std::in_place, file_) : std::nullopt),
      model_(std::make_shared<const model::Model>(modelfile::load_model(
          file_, modelfile::default_memory_limit(), model::Use::kPredict,
          mmap ? modelfile::LoadBy::kMapping : modelfile::LoadBy::kReading))) {
  check();
}

}  // namespace leveret::cli
