/// How the sums of a batch lie that shards add up: the aggregates of Algorithm 1 of the DES paper,
/// which the blocks declare (tape/sums.h).
///
/// One array of floats: a head, which belongs to whoever sends it (flags); what comes once a batch;
/// then for each example its numbers, side by side.
#pragma once

#include <cstddef>
#include <span>

#include "block/config.h"
#include "tape/sums.h"

namespace leveret::dist {

struct SumLayout {
  static constexpr std::size_t kHead = 8;  ///< floats before all others

  tape::SumDecls declared;
  std::uint32_t shared = 0;  ///< groups that are cut by key, from group 0 on

  static SumLayout of(const block::Config& config, tape::Extent extent, std::uint32_t shared);

  std::size_t example(std::size_t b) const {
    return kHead + declared.of_batch() + b * declared.of_example();
  }
  std::size_t floats(std::size_t examples) const { return example(examples); }

  /// Those of a batch, and of its example b, in `sums`.
  template <class Float>
  std::span<Float> of_batch(std::span<Float> sums, tape::SumId id) const {
    return sums.subspan(kHead + declared.place(id), declared[id].floats);
  }
  template <class Float>
  tape::SumsOf<Float> of_example(std::span<Float> sums, std::size_t b) const {
    return {declared, sums.data() + example(b)};
  }
};

}  // namespace leveret::dist
