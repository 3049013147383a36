/// One ordinary model of all shards, and shards of an ordinary model.
///
/// Both ways nothing is lost: shards that are gathered and split again go on as if nothing had
/// happened, bit for bit. But where memory has run out (overflow rows) the shards of one field may
/// have given rows to different features: the whole has then the rows of the field's home, and of
/// other shards what stood for them there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dist/learn/sharded_model.h"
#include "model/model.h"

namespace leveret::dist {

/// The model of which `parts` are all shards, in their order. It keeps the plan (Model::plan).
model::Model gather(const Frame& frame, const Plan& plan, std::span<const Part* const> parts,
                    std::uint64_t memory_limit);
/// The same of a rank that has all of them.
model::Model gather(const ShardedModel& all, std::uint64_t memory_limit);

/// The share that shards [first, first + count) of so many have of a model: by its plan, if it has
/// one for so many shards, else by a new one. Arguments as for ShardedModel.
std::unique_ptr<ShardedModel> split(const model::Model& whole, std::uint32_t shards,
                                    std::uint32_t first, std::uint32_t count,
                                    std::uint64_t memory_limit, const kernels::Kernels& kernels);

}  // namespace leveret::dist
