/// The model that a run of `train` begins with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/learn/resume.h"
#include "cli/learn/train_run.h"
#include "dist/learn/sharded_model.h"
#include "kernels/kernels.h"
#include "model/model.h"
#include "train/chunk_ledger.h"
#include "train/notes.h"

namespace leveret::cli {

/// The model with which a run that follows a folder begins.
struct FollowStart {
  std::string path;        ///< its file; empty: a new one
  bool goes_back = false;  ///< it is an older one than that of -f, to be without some files
  std::vector<std::string> without = {};  ///< files that are not to be learned, by name
  train::ChunkLedger unwanted = {};       ///< and what was in them
};

/// That of -f where that has followed a folder, or of -i; or, where it has come to a file that
/// --without names now for the first time, the newest one that was kept before that, of which it
/// says so. std::runtime_error where nothing was kept, and where there is no such file.
FollowStart follow_start(const TrainOptions& options);

/// That of `resumed`, which is moved from; else of `path`; or, where that is empty, a new one.
/// `notes` becomes what is known of it. Says which it is where that is resumed.
model::Model first_model(const TrainOptions& options, const std::string& path,
                         std::optional<Resumed>& resumed, std::uint64_t memory_limit,
                         train::Notes& notes);

/// The same in shards; --max_memory is that of all of them together.
std::unique_ptr<dist::ShardedModel> first_shards(const TrainOptions& options, model::Model model,
                                                 std::uint64_t memory_limit,
                                                 const kernels::Kernels& kernels);

}  // namespace leveret::cli
