/// The end of the network: the heads' scores become the model's answer, and logistic loss with
/// importance weights becomes every head's error.
#pragma once

#include "model/block.h"

namespace leveret::model {

class LossBlock final : public Block {
 public:
  /// Heads::kMixed: mixes the heads into scores.last.
  void forward(const Model& model, Tape& tape, std::size_t begin, std::size_t end) const override;
  /// Writes the scores' errors and `learn`: false for an example without label or importance, and
  /// for one whose score is not finite or that weighs more than text::kMaxImportance (its gradient
  /// would not be finite either).
  void backward(const Model& model, Tape& tape) const override;
};

/// How many scores the second mixer mixes: the first stage's, the joint head's (linear2 + FFM), and
/// the same with the MLP where there is one.
std::size_t mixed_heads(const Spec& spec);

}  // namespace leveret::model
