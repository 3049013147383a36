#include "metrics/reliability.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace leveret::metrics {

std::vector<ReliabilityBin> reliability(const Scores& scores, std::size_t model, std::size_t bins) {
  if (scores.not_finite(model) > 0) return reliability(scores.answered(), model, bins);
  const std::vector<float>& p = scores.probabilities(model);
  const std::vector<float>& weights = scores.weights();
  std::vector<std::uint32_t> order(p.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return p[i]; });
  double total = 0;
  for (const float w : weights) total += std::fabs(w);

  std::vector<ReliabilityBin> all;
  double before = 0;
  for (std::size_t i = 0; i < order.size();) {
    const double end = total * static_cast<double>(all.size() + 1) / static_cast<double>(bins);
    ReliabilityBin bin{p[order[i]], p[order[i]], 0, 0, 0};
    double weight = 0;
    const auto is_in = [&](float q) {
      return weight == 0 || q == bin.high || before + weight < end || all.size() + 1 == bins;
    };
    for (; i < order.size() && is_in(p[order[i]]); ++i) {
      const double w = std::fabs(weights[order[i]]);
      bin.high = p[order[i]];
      bin.mean_prediction += w * bin.high;
      bin.click_rate += weights[order[i]] > 0 ? w : 0;
      weight += w;
      ++bin.examples;
    }
    bin.mean_prediction /= weight;
    bin.click_rate /= weight;
    before += weight;
    all.push_back(bin);
  }
  return all;
}

}  // namespace leveret::metrics
