#include "rules/adam.h"

#include <cmath>
#include <memory>

namespace leveret::rules {
namespace {

enum : std::size_t { kFirst, kSecond, kSteps };
constexpr State kStates[] = {
    {.name = "moment"},
    {.name = "square", .merge = Merge::kSum},
    // A float stops counting at 2^24, where nothing is left to correct.
    {.name = "steps", .per = State::Per::kVector},
};
static_assert(std::size(kStates) <= kMostStates);

}  // namespace

std::span<const State> Adam::states() const { return kStates; }

void Adam::step(const kernels::Kernels&, const Moved& moved) const {
  constexpr float kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;
  float& steps = *moved.states[kSteps];
  steps += 1;
  const float unbias1 = 1.0f / (1.0f - std::pow(kBeta1, steps));
  const float unbias2 = 1.0f / (1.0f - std::pow(kBeta2, steps));
  const float rate = rate_ * moved.warmth;
  float *const first = moved.states[kFirst], *const second = moved.states[kSecond];
  for (std::size_t i = 0; i < moved.size; ++i) {
    const float g = moved.gradient[i] + l2_ * moved.weights[i];
    if (!(std::fabs(g) <= kernels::kMaxGradient)) continue;
    first[i] = kBeta1 * first[i] + (1.0f - kBeta1) * g;
    second[i] = kBeta2 * second[i] + (1.0f - kBeta2) * g * g;
    moved.weights[i] -= rate * first[i] * unbias1 / (std::sqrt(second[i] * unbias2) + kEpsilon);
  }
}

/// A step is as long whatever the size of gradients is.
RulePtr Adam::for_small_gradients(float) const { return std::make_shared<Adam>(*this); }

}  // namespace leveret::rules
