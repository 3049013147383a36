/// The sums by which scores of pairs are scaled (InstanceSums), where the features of an
/// example are in partitions. With one head they are of the values as they came, which everyone
/// knows; mixed heads divide values by what only who holds the features knows, and add them up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "block/config.h"
#include "tape/sums.h"
#include "tape/tape.h"

namespace leveret::block {

/// Over the features of an example or a partition of it.
struct InstanceSums {
  float features = 0, squares = 0;
  float scale() const { return std::sqrt(features) / std::max(squares, 1e-6f); }
};

/// A member of each block that scales its score; the first of them, in order, adds up for all.
class InstanceSum {
 public:
  void declare(const Config& config, const char* block, tape::SumDecls& sums) {
    if (!config.mixed) return;
    squares_ = sums.find(kName);
    adds_ = squares_ == tape::SumId::kNone;
    if (adds_) squares_ = sums.add({kName, block});
  }
  void partial(const tape::Tape& tape, const tape::Partition& partition, std::size_t b,
               const tape::SumsOf& sums) const {
    if (!adds_) return;
    float squares = 0;
    for (const feature::FieldRun& run : tape.field_runs(b)) {
      if (!partition.homes[run.field]) continue;
      for (std::uint32_t i = run.begin; i < run.end; ++i) {
        squares += tape.field_values[i] * tape.field_values[i];
      }
    }
    sums[squares_] = squares;
  }
  /// Those of the values as they came.
  static InstanceSums as_they_came(const tape::Tape& tape, std::size_t b) {
    return {tape.wholes.features[b], tape.wholes.squares[b]};
  }
  InstanceSums of(const tape::Tape& tape, std::size_t b, const tape::SumsOf& sums) const {
    InstanceSums all = as_they_came(tape, b);
    if (squares_ != tape::SumId::kNone) all.squares = sums[squares_];
    return all;
  }

 private:
  static constexpr const char* kName = "instance.squares";
  tape::SumId squares_ = tape::SumId::kNone;
  bool adds_ = false;
};

}  // namespace leveret::block
