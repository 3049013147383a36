/// How the world of the generated rows changes from row to row: which draws of the planted weights
/// hold at a row, and how often a value has given way to another.
///
/// A weight has any number of draws, hashes like itself; what it is at a row is a sum of a few of
/// them whose squared factors sum to one, so that its variance never changes. Not thread safe.
#pragma once

#include <cstdint>
#include <vector>

#include "options.h"

namespace leveret::synth {

/// A draw of all weights, and its factor in what they are now.
struct Draw {
  std::uint64_t number;
  double factor;
};

class Drift {
 public:
  /// Begins at row 0.
  explicit Drift(const Options& options);

  void move_to(std::uint64_t row);
  const std::vector<Draw>& linear() const { return linear_; }
  const std::vector<Draw>& pairs() const { return pairs_; }
  /// How many values of a categorical field had this rank before the one that has it now.
  std::uint64_t generation(std::uint64_t field_seed, std::uint64_t rank) const;

 private:
  void blend(std::uint64_t from, std::uint64_t to, double step);

  DriftKind kind_;
  double changes_;        ///< per million rows
  double strength_;       ///< share of a weight's variance, or of the values, that changes
  std::uint64_t period_;  ///< rows between changes; of the kinds that have a name
  double time_ = 0;       ///< changes so far, and a part of the next
  std::vector<Draw> linear_, pairs_;
};

}  // namespace leveret::synth
