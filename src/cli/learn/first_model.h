/// The model that a run of `train` begins with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/learn/resume.h"
#include "cli/learn/train_run.h"
#include "dist/learn/sharded_model.h"
#include "kernels/kernels.h"
#include "model/model.h"
#include "train/notes.h"

namespace leveret::cli {

/// The file with which a run that follows a folder goes on: -f where that has followed one, or -i,
/// or an older one that was kept, to be without some files. Says which it is where that is not the
/// command line's -i. Empty: none.
std::string followed_model(const TrainOptions& options);

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
