#include "block/parameters.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace leveret::block {
namespace {

void add_difference(std::span<float> to, std::span<const float> before,
                    std::span<const float> after) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += after[i] - before[i];
}

/// Sums that forget: what has become less is so many times less.
void add_to_sums(std::span<float> to, std::span<const float> before, std::span<const float> after) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (after[i] < before[i]) {
      to[i] *= after[i] / before[i];
    } else {
      to[i] += after[i] - before[i];
    }
  }
}

/// `kept`: the share of `before` that is in `after`.
void add_difference(MixerState& to, const MixerState& before, const MixerState& after, float kept) {
  float best = -1e30f;
  for (std::size_t i = 0; i < to.log_share.size(); ++i) {
    to.log_share[i] = kept * to.log_share[i] + (after.log_share[i] - kept * before.log_share[i]);
    best = std::max(best, to.log_share[i]);
  }
  for (float& share : to.log_share) share -= best;
  for (std::size_t i = 0; i < to.weight.size(); ++i) {
    to.weight[i] += after.weight[i] - before.weight[i];
    to.sum[i] += after.sum[i] - before.sum[i];
  }
}

}  // namespace

void Parameters::add_change(const Parameters& before, const Parameters& after) {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (const auto part :
         {&Dense::weights, &Dense::bias, &Dense::weights_moment, &Dense::bias_moment}) {
      add_difference(layers[l].*part, before.layers[l].*part, after.layers[l].*part);
    }
    for (const auto part : {&Dense::weights_state, &Dense::bias_state}) {
      add_to_sums(layers[l].*part, before.layers[l].*part, after.layers[l].*part);
    }
  }
  add_difference(group_weights, before.group_weights, after.group_weights);
  const Scalars &a = after.scalars, &b = before.scalars;
  scalars.clicks += a.clicks - b.clicks;
  scalars.count += a.count - b.count;
  scalars.bias += a.bias - b.bias;
  scalars.bias2 += a.bias2 - b.bias2;
  scalars.bias_sum += a.bias_sum - b.bias_sum;
  // It has arrived where the last examples want it, whoever learned from them: the steps of several
  // threads, added up, would carry it beyond.
  if (a.fast_bias != b.fast_bias) scalars.fast_bias = a.fast_bias;
  const auto kept = static_cast<float>(std::exp(b.forgotten - a.forgotten));
  add_difference(scalars.first, b.first, a.first, kept);
  add_difference(scalars.second, b.second, a.second, kept);
  scalars.forgotten += a.forgotten - b.forgotten;
  scalars.examples += a.examples - b.examples;
  scalars.dropped_gradients += a.dropped_gradients - b.dropped_gradients;
  scalars.adam_steps += a.adam_steps - b.adam_steps;
}

}  // namespace leveret::block
