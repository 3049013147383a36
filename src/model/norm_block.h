/// MergeNorm (FW paper, section 2.1): the outputs of the linear and the FFM part joined and
/// normalised to mean 0 and variance 1, x^ = (x - mean) / sqrt(mean (x - mean)² + eps); with
/// Heads::kMixed the counts and the linear stage's score stand behind them as they are.
#pragma once

#include "model/block.h"

namespace leveret::model {

class NormBlock final : public Block {
 public:
  static constexpr float kEpsilon = 0.01f;
  static constexpr float kSeenScale = 0.3f;  ///< of mean log(1 + count)

  explicit NormBlock(const kernels::Kernels& kernels) : kernels_(&kernels) {}

  /// From pairs and group_* to inputs.
  void forward(const Model& model, Tape& tape, std::size_t begin, std::size_t end) const override;
  /// From d_inputs, in place, and with Heads::kOne to d_group_linear.
  void backward(const Model& model, Tape& tape) const override;

 private:
  const kernels::Kernels* kernels_;
};

}  // namespace leveret::model
