/// Gradients without what is beyond kernels::kMaxGradient, as values of 1e38 make it, and what is
/// no number: in sums, pairs and slots 0 stands for it, a vector does not move, and a layer, with
/// what is below it, does not learn from the example. So weights and accumulators stay finite,
/// whatever a line says. Nearly always gradients are given back as they came, at the price of
/// reading them once.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/kernels.h"
#include "tape/gradients.h"

namespace leveret::optim {

/// Whether a gradient, or the product of the largest factors of some, can be learned from.
inline bool is_bounded(float largest) { return largest <= kernels::kMaxGradient; }
/// The component of a gradient, or 0.
inline float bounded(float g) { return is_bounded(std::fabs(g)) ? g : 0.0f; }

/// The gradient of a row's slots, as two factors: see BoundedGradients::slots.
struct SlotFactors {
  const float* contra;
  const float* delta;
};

/// Gradients that it gives stay until the next call. One thread's.
class BoundedGradients {
 public:
  explicit BoundedGradients(const kernels::Kernels& kernels) : kernels_(&kernels) {}

  const float* numbers(const float* gradient, std::size_t count);
  /// Those of slot j are delta[j] times the k floats of slot j of `contra`.
  SlotFactors slots(SlotFactors factors, std::size_t slots, std::size_t k);
  /// Without the vectors that have such a gradient, or factor.
  tape::VectorGradients vectors(const tape::VectorGradients& vectors, std::size_t k);
  /// Without the rows that have such a gradient of a weight or bias: their d_out are 0. A layer of
  /// so many inputs and outputs.
  tape::LayerGradient layer(const tape::LayerGradient& gradient, std::size_t inputs,
                            std::size_t outputs);

 private:
  bool is_bounded_layer(const tape::LayerGradient& gradient, std::size_t inputs,
                        std::size_t outputs, std::size_t row) const;

  const kernels::Kernels* kernels_;
  std::vector<float> numbers_, ones_;
  std::vector<std::byte*> rows_;
  std::vector<const float*> gradients_;
};

}  // namespace leveret::optim
