/// How the parts of a model learn.
#pragma once

#include <cstdint>
#include <string_view>

namespace leveret::rules {

// The names of rules that other files know (kinds.h has all).
inline constexpr std::string_view kAdagrad = "adagrad", kSgd = "sgd", kFtrl = "ftrl",
                                  kAdam = "adam";

/// Learning of one part of a model.
struct PartLearning {
  float rate;
  float power_t;  ///< AdaGrad only, as init_acc
  float init_acc;
  std::string_view rule = kAdagrad;  ///< a name that lives for ever: that of a RuleKind
};

struct Learning {
  PartLearning linear{0.05f, 0.5f, 1.0f};
  PartLearning rows{0.15f, 0.5f, 0.02f};  ///< FFM, embeddings
  PartLearning nn{0.03f, 0.5f, 1.0f};     ///< layers, and what towers learn beside them
  float l1 = 0.0f;                        ///< FTRL only
  float l2 = 0.0f;
  float ftrl_beta = 1.0f;  ///< FTRL only
  std::uint32_t seed = 0;  ///< of first weights and of stochastic rounding
};

/// Gradient descent is AdaGrad with the power 0.
inline float adagrad_power(const PartLearning& part) {
  return part.rule == kSgd ? 0.0f : part.power_t;
}

}  // namespace leveret::rules
