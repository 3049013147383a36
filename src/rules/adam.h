/// Adam (Kingma and Ba 2015, algorithm 1), lazily: a vector without a gradient takes no step, so
/// that its means stay, and so does the count of its steps, by which they are corrected.
#pragma once

#include <span>

#include "rules/kinds.h"
#include "rules/rule.h"

namespace leveret::rules {

class Adam final : public Rule {
 public:
  explicit Adam(const RuleOptions& options) : rate_(options.part.rate), l2_(options.l2) {}

  std::span<const State> states() const override;
  void step(const kernels::Kernels& kernels, const Moved& moved) const override;
  RulePtr for_small_gradients(float times) const override;

 private:
  float rate_, l2_;
};

}  // namespace leveret::rules
