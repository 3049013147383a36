/// A rule that no other file knows: gradient descent with momentum (Polyak 1964), slower by each
/// step of a vector. It has a state for each weight and one for each vector.
#pragma once

#include <span>

#include "rules/kinds.h"
#include "rules/rule.h"

namespace leveret::toy {

class Momentum final : public rules::Rule {
 public:
  explicit Momentum(const rules::RuleOptions& options) : rate_(options.part.rate) {}

  std::span<const rules::State> states() const override;
  void step(const kernels::Kernels& kernels, const rules::Moved& moved) const override;
  rules::RulePtr for_small_gradients(float times) const override;

 private:
  float rate_;
};

}  // namespace leveret::toy
