/// How the sums of a batch lie that shards add up: the aggregates of Algorithm 1 of the DES paper,
/// which the blocks declare (tape/sums.h).
///
/// One array of floats, round by round: a head, which belongs to whoever sends it (flags); what
/// comes once a batch; then for each example its numbers, side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "block/config.h"
#include "tape/sums.h"

namespace leveret::dist {

struct SumLayout {
  static constexpr std::size_t kHead = 8;  ///< floats before all others of a round

  tape::SumDecls declared;
  std::uint32_t shared = 0;  ///< groups that are cut by key, from group 0 on

  static SumLayout of(const block::Config& config, tape::Extent extent, std::uint32_t shared);

  /// Floats of a round for so many examples, and of all.
  std::size_t floats(std::uint32_t round, std::size_t examples) const {
    return kHead + declared.of_batch(round) + examples * declared.of_example(round);
  }
  std::size_t floats(std::size_t examples) const { return begin(declared.rounds(), examples); }
  /// The place where those of a round begin.
  std::size_t begin(std::uint32_t round, std::size_t examples) const {
    std::size_t floats = 0;
    for (std::uint32_t r = 0; r < round; ++r) floats += this->floats(r, examples);
    return floats;
  }

  /// `sums`: those of so many examples.
  template <class Float>
  std::span<Float> of_round(std::span<Float> sums, std::uint32_t round,
                            std::size_t examples) const {
    return sums.subspan(begin(round, examples), floats(round, examples));
  }
  /// As blocks see them, in a round.
  tape::BatchSums in_round(std::span<float> sums, std::uint32_t round, std::size_t examples) const {
    tape::SumRounds at{};
    for (std::uint32_t r = 0; r < declared.rounds(); ++r) {
      at[r] = sums.data() + begin(r, examples) + kHead;
    }
    return {declared, at, round};
  }
};

}  // namespace leveret::dist
