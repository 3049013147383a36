/// The model of a run that follows a folder: saved behind its files, the last ones kept beside it,
/// and what a monitor is told of the run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/learn/save_beside.h"
#include "cli/textfile.h"
#include "files/file_state.h"
#include "metrics/metrics.h"
#include "model/model.h"
#include "predict/outcome.h"
#include "train/kept_models.h"
#include "train/notes.h"

namespace leveret::cli {

struct FollowOptions {
  std::size_t keep_models = 0;       ///< 0: none but the last
  std::vector<std::string> without;  ///< names of files that are not learned
  std::string textfile;              ///< for Prometheus; empty: none
  std::optional<LogFormat> log;      ///< of messages; none is asked for: text
};

/// One thread.
class FollowedModel {
 public:
  /// `path`: the model is saved as this. The options outlive it.
  FollowedModel(const FollowOptions& options, std::string path);

  /// Keeps the model that the run begins with, too; empty: a new one. Before the first `save`. From
  /// then on the file is this run's: a save ends with an error where another program has replaced
  /// it.
  void begin_with(const std::string& file);

  /// Examples that were learned, predicted before they were.
  void add(const predict::Outcomes& outcomes);
  /// A file is learned: there is something to save.
  void add_file() { ++files_, is_saved_ = false; }
  bool is_saved() const { return is_saved_; }
  /// Whether a save has ended with that error. Any thread.
  bool is_replaced() const { return is_replaced_; }

  /// In words: the examples since the save before, and how well they were predicted.
  std::string worth();
  /// Saves it. An error of the disk is told by `wait`, and `failed` is called, in another thread,
  /// when it comes.
  void save(const model::Model& model, const train::Notes& notes, std::uint64_t bad_lines,
            std::function<void()> failed);
  /// Waits for the last save; an error of it is thrown here.
  void wait() { save_.wait(); }

 private:
  void tell_of_keeping(int error);
  void check_owner();
  std::string metrics_text(std::uint64_t sequence, std::uint64_t bad_lines);
  void commit(files::AtomicFile& file, const std::string& followed, const std::string& metrics);

  const FollowOptions& options_;
  const std::string path_;
  const train::KeptModels kept_;
  metrics::Metrics since_save_;
  std::uint64_t examples_ = 0, files_ = 0, saves_ = 0;
  bool is_saved_ = true;
  std::optional<files::FileState> last_;  ///< of the file as this run has left it
  std::atomic<bool> is_replaced_ = false;
  ToldOnce keeping_;  ///< of the thread that commits, once there is one; as the next
  Textfile textfile_;
  SaveBeside save_;  // last: its thread uses the above
};

}  // namespace leveret::cli
