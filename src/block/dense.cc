#include "block/dense.h"

#include <cmath>

#include "table/mix.h"

namespace leveret::block {
namespace {

/// Uniform with variance 1, a function of its arguments only.
float unit_random(const DenseInit& init, std::uint32_t row, std::uint32_t column) {
  const std::uint64_t random =
      table::mix(table::mix(init.seed + 0x5eed) ^ (std::uint64_t{init.layer} << 56) ^
                 (std::uint64_t{row} << 32) ^ column);
  return static_cast<float>(static_cast<std::int32_t>(random >> 32)) * 0x1p-31f * 1.7320508f;
}

}  // namespace

Dense make_dense(std::uint32_t inputs, std::uint32_t outputs, const DenseInit& init) {
  Dense empty;
  empty.outputs = outputs;
  empty.bias.assign(outputs, 0.0f);
  empty.bias_state.assign(outputs, init.init_acc);
  if (init.moments) empty.bias_moment.assign(outputs, 0.0f);
  return with_inputs(
      empty, inputs, [](std::uint32_t) { return kNewColumn; }, init);
}

Dense with_inputs(const Dense& old, std::uint32_t inputs,
                  const std::function<std::uint32_t(std::uint32_t)>& source,
                  const DenseInit& init) {
  Dense dense = old;
  dense.inputs = inputs;
  const std::size_t size = dense.stride() * old.outputs;
  dense.weights.assign(size, 0.0f);
  dense.weights_state.assign(size, 0.0f);
  if (init.moments) dense.weights_moment.assign(size, 0.0f);
  const float deviation = std::sqrt(init.gain / static_cast<float>(inputs));
  for (std::uint32_t column = 0; column < inputs; ++column) {
    const std::uint32_t from = source(column);
    for (std::uint32_t row = 0; row < old.outputs; ++row) {
      const std::size_t to = row * dense.stride() + column;
      if (from == kNewColumn) {
        dense.weights_state[to] = init.init_acc;
        if (init.gain > 0) dense.weights[to] = deviation * unit_random(init, row, column);
        continue;
      }
      const std::size_t at = row * old.stride() + from;
      dense.weights[to] = old.weights[at];
      dense.weights_state[to] = old.weights_state[at];
      if (init.moments) dense.weights_moment[to] = old.weights_moment[at];
    }
  }
  return dense;
}

}  // namespace leveret::block
