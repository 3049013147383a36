/// How the parts of a model learn.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"

namespace leveret::optim {

/// Learning of one part: w -= rate * g / G^power_t with G = init_acc + sum of g².
struct PartLearning {
  float rate;
  float power_t;
  float init_acc;
};

enum class OptimizerKind {
  kAdagrad,  ///< every part by AdaGrad with its power_t
  kSgd,      ///< every part by plain gradient descent
  kFtrl,     ///< linear part by FTRL-proximal (McMahan et al. 2013), the others by AdaGrad
  kAdam,     ///< dense layers by Adam (Kingma and Ba 2015; batch mode), the others by AdaGrad
};

struct Learning {
  OptimizerKind optimizer = OptimizerKind::kAdagrad;
  PartLearning linear{0.05f, 0.5f, 1.0f};
  PartLearning ffm{0.15f, 0.5f, 0.02f};
  PartLearning nn{0.03f, 0.5f, 1.0f};
  float l1 = 0.0f;  ///< FTRL only
  float l2 = 0.0f;
  float ftrl_beta = 1.0f;  ///< FTRL only; alpha is linear.rate
  std::uint32_t seed = 0;  ///< of first weights and of stochastic rounding
};

/// How the kernels step the weights of one part. Gradient descent is AdaGrad with the power 0.
inline kernels::StepRule step_rule(const Learning& learning, const PartLearning& part) {
  const bool sgd = learning.optimizer == OptimizerKind::kSgd;
  return {part.rate, sgd ? 0.0f : part.power_t, learning.l2};
}

}  // namespace leveret::optim
