/// The model of `predict`, `evaluate` and `audit`: read, or mapped with --mmap.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/model.h"
#include "options/cli11_fwd.h"
#include "store/model_file.h"

namespace leveret::cli {

/// Also says that it needs `model`, the option that names one.
void add_mmap_option(CLI::App& verb, CLI::Option& model, bool& mmap);

/// While it lives, a fault of a process that has mapped the file ends it with a sentence. One at a
/// time.
class FaultHandler {
 public:
  explicit FaultHandler(const store::ModelFile& mapped);
  ~FaultHandler();
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;
};

/// One at a time. Where the model is mapped the program ends, with exit code 1 and a sentence, when
/// its file is changed in place: by check(), or by a signal handler when pages are gone (SIGBUS),
/// or when what has come instead leads out of the tables (SIGSEGV).
class ServedModel {
 public:
  ServedModel(const std::string& path, bool mmap);
  const std::shared_ptr<const model::Model>& get() const { return model_; }
  /// To be called before results are printed. Throws std::runtime_error: those since the last time
  /// are worth nothing.
  void check() const {
    if (handler_) file_.check_unchanged();
  }

 private:
  store::ModelFile file_;
  std::optional<FaultHandler> handler_;  ///< where the file is mapped
  std::shared_ptr<const model::Model> model_;
};

}  // namespace leveret::cli
