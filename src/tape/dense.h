/// Fully connected layers: their declaration, and a view of the values.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "table/aligned.h"
#include "tape/learned_array.h"

namespace leveret::tape {

/// `outputs` rows of `inputs` weights, a bias per row, optimizer state beside every one of them.
/// Each row begins on a cache line. See LayerArrays for the shapes.
template <class Float>
struct DenseView {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::span<Float> weights;  ///< outputs * stride()
  std::span<Float> bias;
  std::span<Float> weights_state;
  std::span<Float> bias_state;
  std::span<Float> weights_moment;  ///< empty without Adam
  std::span<Float> bias_moment;

  /// Floats from one row to the next.
  std::size_t stride() const { return table::whole_lines(inputs); }
};

using Dense = DenseView<float>;
using ConstDense = DenseView<const float>;

struct DenseInit {
  std::uint64_t seed = 0;
  std::uint32_t layer = 0;
  float gain =
      2.0f;  ///< variance of the weights times inputs (He et al. 2015: 2 for ReLU; 0: zeros)
  float init_acc = 1.0f;
  bool moments = false;
};

/// Declares a layer, whose arrays are called NAME.weights, NAME.bias, …, over the numbers that a
/// tensor has of an example; over one that is empty it has no outputs.
void declare_dense(const std::string& name, TensorId input, std::uint32_t outputs,
                   const DenseInit& init, Declarations& declarations);
/// The same over rows of `width` numbers, of which the tensor has several of an example (tokens):
/// they share the weights. `width` does not depend on the fields.
void declare_dense_rows(const std::string& name, TensorId input, std::uint32_t width,
                        std::uint32_t outputs, const DenseInit& init, Declarations& declarations);

}  // namespace leveret::tape
