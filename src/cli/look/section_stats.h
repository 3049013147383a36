/// Figures over the numbers of a section, for `inspect`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "store/section.h"

namespace leveret::cli {

struct SectionStats {
  std::uint64_t count = 0;
  std::uint64_t zeros = 0;
  std::uint64_t not_finite = 0;  ///< NaN and infinite; not in min, max, mean
  double min = 0, max = 0, sum = 0;

  void add(double value);
  double mean() const { return count > not_finite ? sum / double(count - not_finite) : 0; }
  double zero_share() const { return count > 0 ? double(zeros) / double(count) : 0; }
};

/// Counts a part of a section: what its numbers stand for, where each has the same scale; where
/// each row has its own, the numbers themselves.
void add_numbers(SectionStats& stats, store::Dtype dtype, std::span<const std::byte> part,
                 const store::Declaration& declared = {});

}  // namespace leveret::cli
