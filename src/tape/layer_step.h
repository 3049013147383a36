/// Fully connected layers on the way back: what a block hands on of each, and to whom.
#pragma once

#include <cstddef>

namespace leveret::tape {

/// A layer and the examples of a tape: what came in, and the gradient of what went out.
struct LayerStep {
  std::size_t layer;     ///< its number, as in Parameters::layer
  std::size_t examples;  ///< B
  std::size_t inputs;    ///< floats from one example's inputs to the next one's (Tensor::stride)
  const float* in;       ///< B * inputs
  const float* d_out;    ///< B * outputs; 0 where a neuron did not fire, or nothing is learned
  float* d_in;           ///< B * inputs, to be written: d loss / d in
};

/// Learns layers while the gradients pass them, so that weights need to be read once for both.
/// It gets each layer once a batch, the last one first, when all that is behind it is through.
class LayerLearner {
 public:
  virtual ~LayerLearner() = default;
  /// Writes d_in, by the weights as they are; may move these afterwards.
  virtual void take(const LayerStep& step) = 0;
};

}  // namespace leveret::tape
