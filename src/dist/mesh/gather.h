/// One ordinary model of what the ranks of a mesh (learner.h) have learned.
#pragma once

#include <cstdint>
#include <optional>

#include "dist/talk/communicator.h"
#include "model/model.h"

namespace leveret::dist {

/// To be called by all ranks, each with its model; rank 0, which needs memory for all of it, gets
/// the whole. std::runtime_error on a rank whose memory has run out while it learned: features have
/// shared rows then, and a model in one place would have none to go on with.
std::optional<model::Model> gather_mesh(const model::Model& mine, Communicator& ranks,
                                        std::uint64_t memory_limit);

}  // namespace leveret::dist
