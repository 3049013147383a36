/// Numbers that ranks tell each other within the sums of a batch, in the first floats of these:
/// flags, and every so many batches whether they still have the same of what all have.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dist/talk/communicator.h"
#include "tape/parameters.h"

namespace leveret::dist {

struct BatchFlags {
  bool failed = false;  ///< something went wrong: no rank learns from this batch
  bool stop = false;    ///< a signal came: this batch is the last one
};

/// Owned by a learner.
class BatchHead {
 public:
  static constexpr std::size_t kFloats = 8;

  /// Into the first floats of what will be added up. `common`: what all ranks have; its hash is
  /// told where `checks`.
  void write(BatchFlags flags, const tape::Parameters& common, bool checks, std::span<float> head);
  /// The flags that any rank has set, from the sums over `ranks`. std::runtime_error when hashes
  /// were told and are not the same; `batches`: learned until then, for its message.
  BatchFlags read(std::span<const float> head, unsigned ranks, std::uint64_t batches) const;

 private:
  static constexpr std::size_t kHashParts = 4;
  std::array<float, kHashParts> own_hash_{};
};

}  // namespace leveret::dist
