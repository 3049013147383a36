/// The output of `compare` and `evaluate` about two models, or one: figures, intervals, bins,
/// slices.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "metrics/scores.h"
#include "metrics/slices.h"

namespace leveret::cli {

/// Two models over the same examples.
struct Comparison {
  const metrics::Scores& scores;
  const std::vector<metrics::Slice>& slices;
  std::string by;        ///< the namespace of the slices; empty: none
  double tolerance = 0;  ///< what B's logloss may be above A's
  std::size_t threads = 1;
};

struct Compared {
  metrics::Standing standing;
  std::string text;  ///< for standard output
};

/// A table, or a line of JSON. std::runtime_error where no example had a label.
Compared compare(const Comparison& comparison, bool json);

}  // namespace leveret::cli
