/// The neural part: ReLU layers over the normalised inputs and one output neuron, whose value is
/// added to what linear and FFM part say (skip connection), so that the deep part can only add.
#pragma once

#include "model/block.h"

namespace leveret::model {

class MlpBlock final : public Block {
 public:
  explicit MlpBlock(const kernels::Kernels& kernels) : kernels_(&kernels) {}

  /// Writes hidden and scores.deep.
  void forward(const Model& model, Tape& tape, std::size_t begin, std::size_t end) const override;
  /// Writes d_hidden (0 for a neuron that did not fire, which costs nothing from there on: sparse
  /// updates, FW paper, section 4.3) and d_inputs.
  void backward(const Model& model, Tape& tape) const override;

 private:
  const kernels::Kernels* kernels_;
};

}  // namespace leveret::model
