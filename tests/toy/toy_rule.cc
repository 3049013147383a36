#include "toy/toy_rule.h"

#include <memory>

namespace leveret::toy {

std::span<const rules::State> Momentum::states() const {
  static constexpr rules::State kStates[] = {
      {.name = "velocity"}, {.name = "met", .per = rules::State::Per::kVector, .first = 1}};
  return kStates;
}

void Momentum::step(const kernels::Kernels&, const rules::Moved& moved) const {
  float& met = *moved.states[1];
  const float rate = rate_ / (1.0f + 0.001f * met);
  met += 1;
  for (std::size_t i = 0; i < moved.size; ++i) {
    float& velocity = moved.states[0][i];
    velocity = 0.5f * velocity + moved.gradient[i];
    moved.weights[i] -= rate * velocity;
  }
}

rules::RulePtr Momentum::for_small_gradients(float times) const {
  auto rule = std::make_shared<Momentum>(*this);
  rule->rate_ *= times;
  return rule;
}

}  // namespace leveret::toy

namespace leveret::rules {

std::span<const RuleKind> extra_rule_kinds() {
  static constexpr RuleKind kKinds[] = {rule_kind<toy::Momentum>("momentum", false, true, true)};
  return kKinds;
}

}  // namespace leveret::rules
