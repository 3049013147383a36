/// How often there is a click where a model says so (a reliability diagram's numbers).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metrics/scores.h"

namespace leveret::metrics {

/// Examples of neighbouring predictions. Means are weighted by importance.
struct ReliabilityBin {
  float low, high;  ///< of the predictions in it
  std::uint64_t examples;
  double mean_prediction, click_rate;
};

/// `bins` bins of about equal importance in all, in the order of predictions; equal predictions are
/// in one bin, so there may be fewer.
std::vector<ReliabilityBin> reliability(const Scores& scores, std::size_t model,
                                        std::size_t bins = 10);

}  // namespace leveret::metrics
