/// AdaGrad (Duchi et al. 2011): G += g², w -= rate · g / G^power; and gradient descent, which is
/// AdaGrad with the power 0. Kernels know it (kernels::StepRule).
#pragma once

#include <memory>
#include <span>

#include "kernels/kernels.h"
#include "rules/kinds.h"
#include "rules/rule.h"

namespace leveret::rules {

class Adagrad final : public Rule {
 public:
  explicit Adagrad(const RuleOptions& options);

  std::span<const State> states() const override { return {&sum_, 1}; }
  void step(const kernels::Kernels& kernels, const Moved& moved) const override;
  const kernels::StepRule* fused() const override { return &rule_; }
  RulePtr for_small_gradients(float times) const override;

 private:
  kernels::StepRule rule_;
  State sum_;
};

}  // namespace leveret::rules
