/// How the parts of a model learn.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"

namespace leveret::optim {

/// How a weight moves by its gradient g.
enum class UpdateRule {
  kAdagrad,  ///< w -= rate * g / G^power_t with G = init_acc + sum of g² (Duchi et al. 2011)
  kSgd,      ///< w -= rate * g
  kFtrl,     ///< FTRL-proximal (McMahan et al. 2013); rate is its alpha
  kAdam,     ///< Kingma and Ba 2015
};

/// Learning of one part of a model.
struct PartLearning {
  float rate;
  float power_t;  ///< AdaGrad only, as init_acc
  float init_acc;
  UpdateRule rule = UpdateRule::kAdagrad;
};

struct Learning {
  PartLearning linear{0.05f, 0.5f, 1.0f};  ///< AdaGrad, SGD or FTRL
  PartLearning rows{0.15f, 0.5f, 0.02f};   ///< FFM, FM, embeddings: AdaGrad or SGD
  PartLearning nn{0.03f, 0.5f, 1.0f};      ///< of layers: AdaGrad, SGD or Adam
  float l1 = 0.0f;                         ///< FTRL only
  float l2 = 0.0f;
  float ftrl_beta = 1.0f;  ///< FTRL only
  std::uint32_t seed = 0;  ///< of first weights and of stochastic rounding
};

/// Gradient descent is AdaGrad with the power 0.
inline float adagrad_power(const PartLearning& part) {
  return part.rule == UpdateRule::kSgd ? 0.0f : part.power_t;
}
/// How the kernels step the weights of a part that learns by AdaGrad or SGD.
inline kernels::StepRule step_rule(const Learning& learning, const PartLearning& part) {
  return {part.rate, adagrad_power(part), learning.l2};
}

}  // namespace leveret::optim
