/// Figures over the numbers of a section, for `inspect`.
#pragma once

#include <cstdint>

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

/// Reads the whole section once.
SectionStats section_stats(const store::SectionView& section);

}  // namespace leveret::cli
