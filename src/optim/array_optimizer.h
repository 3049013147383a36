/// How arrays of weights move that stand beside layers (Declarations::weights).
#pragma once

#include <span>
#include <vector>

#include "block/config.h"
#include "kernels/kernels.h"
#include "optim/bounded.h"
#include "tape/parameters.h"

namespace leveret::optim {

/// Owned by a thread, with working memory of its own.
class ArrayOptimizer {
 public:
  ArrayOptimizer(const kernels::Kernels& kernels, const block::Config& config)
      : kernels_(&kernels), config_(config), bounded_(kernels) {}

  /// A step by the array's rule. `gradient`: see GradientSink::array. What towers learn has
  /// `warmth` of its rate (warmup.h), and gradients that are clipped (clip.h).
  void step(tape::Parameters& parameters, tape::ArrayId id, const float* gradient, float warmth);

 private:
  const float* clipped(const float* gradient, std::size_t count);
  void step_in_kernels(const kernels::StepRule& rule, std::span<float> weights,
                       std::span<float> sums, const float* gradient);

  const kernels::Kernels* kernels_;
  block::Config config_;
  BoundedGradients bounded_;
  std::vector<float> steps_, squares_, clipped_;
};

}  // namespace leveret::optim
