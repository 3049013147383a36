#include "optim/array_optimizer.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "optim/clip.h"
#include "optim/moved.h"
#include "tape/tape.h"

namespace leveret::optim {

void ArrayOptimizer::step(tape::Parameters& parameters, tape::ArrayId id, const float* gradient,
                          float warmth) {
  const tape::LearnedArray& array = parameters.declared()[id];
  const tape::States states = parameters.states(id);
  const std::span<float> weights = parameters[id];
  // Those of groups of features are the linear part's.
  const bool of_towers = array.owner == tape::Owner::Kind::kAll;
  const float share = of_towers ? warmth : 1;
  if (of_towers && config_.layers_clip > 0) gradient = clipped(gradient, weights.size());
  const kernels::StepRule* const fused = array.rule->fused();
  if (fused != nullptr && fused->power == 0.5f && fused->l2 == 0.0f) {
    kernels::StepRule rule = *fused;
    rule.rate *= share;
    return step_in_kernels(rule, weights, states[0], gradient);
  }
  const float* const bounded = bounded_.numbers(gradient, weights.size());
  const bool matrix = array.shape.size() > 1;
  const std::size_t size = matrix ? array.columns() : 1, stride = matrix ? array.stride() : 1;
  for (std::size_t v = 0; v * stride < weights.size(); ++v) {
    const std::span<const float> of{bounded + v * stride, size};
    if (std::ranges::all_of(of, [](float g) { return g == 0.0f; })) continue;
    array.rule->step(*kernels_,
                     moved(*array.rule, {weights.data(), of.data(), size, stride}, v, states,
                           /*decay=*/1, share));
  }
}

/// The gradient of an array, of at most --nn_clip.
const float* ArrayOptimizer::clipped(const float* gradient, std::size_t count) {
  const float* const of = bounded_.numbers(gradient, count);
  const float factor = clip_factor(squares_of({of, count}), config_.layers_clip);
  if (factor == 1.0f) return gradient;
  clipped_.resize(count);
  kernels_->scale(of, count, factor, clipped_.data());
  return clipped_.data();
}

/// AdaGrad with the power 1/2, all numbers at once: each example of mixed heads takes such a step.
/// To be deleted when models may change by a rounding: Adagrad::step can take all vectors as one.
void ArrayOptimizer::step_in_kernels(const kernels::StepRule& rule, std::span<float> weights,
                                     std::span<float> sums, const float* gradient) {
  const std::size_t count = weights.size();
  tape::at_least(steps_, count);
  tape::at_least(squares_, count);
  kernels_->squares(gradient, 1.0f, count, steps_.data(), squares_.data());
  for (std::size_t i = 0; i < count; ++i) squares_[i] = sums[i] += squares_[i];
  kernels_->adagrad_deltas(steps_.data(), squares_.data(), count, rule.rate, steps_.data());
  for (std::size_t i = 0; i < count; ++i) weights[i] -= steps_[i];
}

}  // namespace leveret::optim
