/// Fully connected layers: their declaration, and a view of the values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "rules/rule.h"
#include "table/aligned.h"
#include "tape/learned_array.h"

namespace leveret::tape {

/// `outputs` rows of `inputs` weights and a bias per row. Each row begins on a cache line.
template <class Float>
struct DenseView {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::span<Float> weights;  ///< outputs * stride()
  std::span<Float> bias;     ///< outputs, or empty: 0

  /// Floats from one row to the next.
  std::size_t stride() const { return table::whole_lines(inputs); }
};

using Dense = DenseView<float>;
using ConstDense = DenseView<const float>;

/// The states that a rule keeps of an array, in its order; empty behind the last.
using States = std::array<std::span<float>, rules::kMostStates>;

/// A layer, and what its rule keeps of it. A part of one may have no bias.
struct LearnedDense : Dense {
  const rules::Rule* rule = nullptr;
  States weights_states{}, bias_states{};
};

struct DenseInit {
  std::uint64_t seed = 0;
  std::uint32_t layer = 0;
  float gain =
      2.0f;  ///< variance of the weights times inputs (He et al. 2015: 2 for ReLU; 0: zeros)
  bool bias = true;  ///< else the array NAME.bias is empty
};

/// Declares a layer that learns by the rule, whose arrays are called NAME.weights, NAME.bias, …,
/// over the numbers that a tensor has of an example; over one that is empty it has no outputs.
void declare_dense(const std::string& name, TensorId input, std::uint32_t outputs,
                   const DenseInit& init, const rules::RulePtr& rule, Declarations& declarations);
/// The same over rows of `width` numbers, of which the tensor has one or several of an example
/// (tokens): they share the weights. If there are more numbers with more fields, the new ones come
/// last.
void declare_dense_rows(const std::string& name, TensorId input, std::uint32_t width,
                        std::uint32_t outputs, const DenseInit& init, const rules::RulePtr& rule,
                        Declarations& declarations);

}  // namespace leveret::tape
