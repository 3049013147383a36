/// Chunks that the model has learned before, for a run of `train`: it passes them over and says so,
/// and notes those that it learns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/cache_key.h"
#include "cli/input.h"
#include "stream/stop_flag.h"
#include "train/chunk_ledger.h"
#include "train/chunk_watch.h"

namespace leveret::cli {

/// One thread, but for events().
class LearnedChunks {
 public:
  /// `again`: nothing is passed over.
  explicit LearnedChunks(bool again) : again_(again) {}
  /// Does not wait for what is read beside.
  ~LearnedChunks() { stop_.raise(); }

  /// Takes the files away from `input` that the ledger has, and says so. True when there were some
  /// and none is left. `of_run`, of a run that is gone on with: its files stay.
  bool pass_over(InputOptions& input, const train::ChunkLedger& ledger,
                 const std::vector<std::string>* of_run = nullptr);

  /// For the reader of the first pass.
  train::ChunkWatch& events() { return watch_; }
  /// The same where a cache is read in place of the files. One that does not know the sums of their
  /// text, as predict and evaluate make them, leaves these to be read beside, in a thread.
  void take_from(const cache::CacheInfo& cache, const InputOptions& input);

  /// To be called where examples of this source, and of those behind it, are not learned from.
  void end_at(std::uint32_t source) { end_ = std::min<std::uint64_t>(end_, source); }
  /// All examples of the sources before `end` are learned: adds them to the ledger. Warns of what
  /// could not be known beforehand, as of a pipe, and was there already.
  void note(train::ChunkLedger& ledger, std::uint64_t end = kAll);

  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

 private:
  const bool again_;
  bool warns_ = false;  ///< of chunks that are known only at their end
  train::ChunkWatch watch_;
  std::uint64_t end_ = kAll;
  std::vector<std::string> names_;                                    ///< of the sources
  stream::StopFlag stop_;                                             ///< ends what is read beside
  std::future<std::vector<std::optional<train::ChunkHash>>> cached_;  ///< of take_from
};

/// That this file is passed over, as the model has learned it before.
void say_passed_over(const std::string& path);
/// That this file, which is learned, begins with so many bytes that the model has learned before.
void say_grown(const std::string& path, std::uint64_t bytes);

/// The files of -d as they are noted: none where that is standard input alone.
std::vector<std::string> data_of(const InputOptions& input);

/// Whether a run over `data` was one over this input, but for files of it that `ledger` has.
bool is_input_of(const std::vector<std::string>& data, const InputOptions& input,
                 const train::ChunkLedger& ledger);

}  // namespace leveret::cli
