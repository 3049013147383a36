#include "tape/dense.h"

#include <cmath>
#include <utility>

#include "table/mix.h"

namespace leveret::tape {
namespace {

/// Uniform with variance 1, a function of its arguments only.
float unit_random(const DenseInit& init, std::uint32_t row, std::uint32_t column) {
  const std::uint64_t random =
      table::mix(table::mix(init.seed + 0x5eed + (init.layer >> 8)) ^
                 (std::uint64_t{init.layer} << 56) ^ (std::uint64_t{row} << 32) ^ column);
  return static_cast<float>(static_cast<std::int32_t>(random >> 32)) * 0x1p-31f * 1.7320508f;
}

/// `source`: where columns come from when there are more fields.
void declare(const std::string& name, TensorId input, std::uint32_t inputs,
             const ColumnSource& source, std::uint32_t outputs, const DenseInit& init,
             Declarations& declarations) {
  using table::Learned;
  if (inputs == 0) outputs = 0;
  const auto add = [&](const char* what, Learned kind, Merge merge, bool matrix) {
    LearnedArray array;
    array.name = name + what;
    array.kind = kind;
    array.merge = merge;
    array.shape.push_back(outputs);
    if (matrix) {
      array.shape.push_back(inputs);
      array.source = source;
    }
    if (merge == Merge::kSum) {
      array.first = [sum = init.init_acc](std::uint32_t, std::uint32_t) { return sum; };
    } else if (matrix && kind == Learned::kParameter && init.gain > 0) {
      const float deviation = std::sqrt(init.gain / static_cast<float>(inputs));
      array.first = [init, deviation](std::uint32_t row, std::uint32_t column) {
        return deviation * unit_random(init, row, column);
      };
    }
    return declarations.add(std::move(array));
  };
  LayerArrays layer{};
  layer.input = input;
  layer.weights = add(".weights", Learned::kParameter, Merge::kAdd, true);
  layer.bias = add(".bias", Learned::kParameter, Merge::kAdd, false);
  layer.weights_state = add(".weights_state", Learned::kState, Merge::kSum, true);
  layer.bias_state = add(".bias_state", Learned::kState, Merge::kSum, false);
  layer.weights_moment = layer.bias_moment = ArrayId::kNone;
  if (init.moments) {
    layer.weights_moment = add(".weights_moment", Learned::kState, Merge::kAdd, true);
    layer.bias_moment = add(".bias_moment", Learned::kState, Merge::kAdd, false);
  }
  declarations.layers.push_back(layer);
}

}  // namespace

void declare_dense(const std::string& name, TensorId input, std::uint32_t outputs,
                   const DenseInit& init, Declarations& declarations) {
  const Tensor from = declarations[input];
  declare(name, input, from.size, from.source, outputs, init, declarations);
}

void declare_dense_rows(const std::string& name, TensorId input, std::uint32_t width,
                        std::uint32_t outputs, const DenseInit& init, Declarations& declarations) {
  declare(name, input, width, nullptr, outputs, init, declarations);
}

}  // namespace leveret::tape
