/// A model's file whose wait for the disk is beside learning.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <string>

#include "files/atomic_file.h"
#include "model/model.h"
#include "train/notes.h"

namespace leveret::cli {

/// One thread.
class SaveBeside {
 public:
  /// Learning stands still until this returns, how long it says; the file has its name when the
  /// disk has it, which a thread waits for: there `commit` commits it, and where that throws
  /// `failed` is called, and the error is there for `wait`. What these use outlives this. Waits for
  /// the save before.
  std::chrono::duration<double> save(const model::Model& model, const std::string& path,
                                     const train::Notes& notes,
                                     std::function<void(files::AtomicFile&)> commit,
                                     std::function<void()> failed = {});
  /// Waits for the last one; an error of its writing is thrown here.
  void wait() {
    if (commit_.valid()) commit_.get();
  }

 private:
  std::future<void> commit_;
};

}  // namespace leveret::cli
