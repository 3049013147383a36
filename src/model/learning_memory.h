/// Memory that learning takes beside the tables: what towers learn, and what a batch leaves on the
/// tape. It follows from the declarations of blocks, before anything is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "spec/spec.h"
#include "tape/learned_array.h"

namespace leveret::model {

/// In bytes.
struct LearningMemory {
  std::uint64_t arrays = 0;  ///< weights and their states
  std::uint64_t batch = 0;   ///< values and gradients of all examples of a batch
  std::string most;          ///< the option of the part that takes the most of both
  std::uint64_t of_most = 0;

  /// Threads have a tape each, and two copies of arrays.
  std::uint64_t of_threads(unsigned threads) const {
    return arrays * (threads > 1 ? 1 + 2 * std::uint64_t{threads} : 1) + batch * threads;
  }
};

/// By what it is known how much there is to learn, beside the model's spec.
struct LearningExtent {
  std::uint32_t fields;
  unsigned threads;
};

LearningMemory learning_memory(const tape::Declarations& declared, const spec::Spec& spec);

/// std::runtime_error, which names the part that takes the most, where all of it is more than
/// `limit` bytes. 16 MB always fit.
void check_learning_memory(const tape::Declarations& declared, const spec::Spec& spec,
                           const LearningExtent& extent, std::uint64_t limit);

}  // namespace leveret::model
