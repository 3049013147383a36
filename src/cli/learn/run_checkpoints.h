/// The checkpoints of a run of `train`: when they are due, and how they are saved beside learning.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/learn/save_beside.h"
#include "cli/learn/save_interval.h"
#include "model/model.h"
#include "train/checkpoints.h"
#include "train/notes.h"

namespace leveret::cli {

/// One thread, but for add() and due().
class RunCheckpoints {
 public:
  /// Those of the model that will be saved as `model`; `keep` of them stay.
  RunCheckpoints(SaveInterval interval, const std::string& model, std::size_t keep)
      : interval_(interval), checkpoints_(folder_of(model)), keep_(keep) {}
  /// Where they are.
  static std::string folder_of(const std::string& model) { return model + ".checkpoints"; }

  /// Those that are there are of this run, too, which resumes `from`; but for `broken`, which go
  /// with the first save.
  void go_on(const std::string& from, std::vector<std::string> broken);
  /// Those that are there are of a run that has not ended: they stay, in front of this run's.
  void leave() { checkpoints_.leave(); }
  /// So many examples have been learned. Any thread.
  void add(std::uint64_t examples) { since_ += examples; }
  /// Any thread.
  bool due() const;
  /// Counts anew from here, with nothing saved.
  void skip();
  /// Saves one. Learning stands still until this returns; that the disk has it is waited for beside
  /// learning, at the next save at the latest. Those of a run that has ended go with the first.
  /// Returns how long it took.
  std::chrono::duration<double> save(const model::Model& model, const train::Notes& notes);
  /// The file of the last save, if there was one. It is there once wait() returns.
  const std::string& last() const { return last_; }
  /// The last one that is there, of this run or of that which it resumes; empty: none. For who has
  /// an error to tell: waits for the last save, and has nothing to say of an error of its own.
  const std::string& last_there() noexcept;
  /// Waits for the last one; an error of its writing is thrown here.
  void wait() { save_.wait(); }
  /// The model is saved: all but `keep` of this run's go.
  void end(std::size_t keep);

 private:
  const SaveInterval interval_;
  train::Checkpoints checkpoints_;
  const std::size_t keep_;
  std::size_t saved_ = 0;  ///< by this run
  std::vector<std::string> broken_;
  std::string last_, last_there_;
  std::atomic<std::uint64_t> since_{0};  ///< examples, since the last one
  std::atomic<std::chrono::steady_clock::time_point> time_{std::chrono::steady_clock::now()};
  SaveBeside save_;
};

}  // namespace leveret::cli
