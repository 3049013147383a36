#include "rules/adagrad.h"

#include <cmath>
#include <memory>

namespace leveret::rules {

/// One sum for a vector has the mean of its numbers' squares. Those that stand behind the ones that
/// are used are 0, as their gradients are, which the first sum and the rate make up for.
Adagrad::Adagrad(const RuleOptions& options)
    : rule_{options.part.rate, adagrad_power(options.part), options.l2},
      sum_{.name = "state",
           .first = options.part.init_acc,
           .merge = Merge::kSum,
           .codec = options.sums} {
  if (!options.one_sum) return;
  sum_.per = State::Per::kVector;
  sum_.first *= options.used;
  rule_.rate *= std::pow(options.used, rule_.power);
}

void Adagrad::step(const kernels::Kernels& kernels, const Moved& moved) const {
  kernels::StepRule rule = rule_;
  rule.decay = moved.decay;
  rule.rate *= moved.warmth;
  if (sum_.per == State::Per::kWeight) {
    return kernels.update(moved.weights, moved.states[0], moved.gradient, moved.size, rule);
  }
  const float one = 1.0f;
  kernels.ffm_update_slice(moved.weights, moved.states[0], moved.gradient, &one, 1, moved.size,
                           rule);
}

RulePtr Adagrad::for_small_gradients(float times) const {
  auto rule = std::make_shared<Adagrad>(*this);
  rule->rule_.rate *= times;
  return rule;
}

}  // namespace leveret::rules
