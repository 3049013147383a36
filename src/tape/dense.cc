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
             const rules::RulePtr& rule, Declarations& declarations) {
  if (inputs == 0) outputs = 0;
  LearnedArray weights{.name = name + ".weights", .shape = {outputs, inputs}, .source = source};
  if (init.gain > 0) {
    const float deviation = std::sqrt(init.gain / static_cast<float>(inputs));
    weights.first = [init, deviation](std::uint32_t row, std::uint32_t column) {
      return deviation * unit_random(init, row, column);
    };
  }
  const ArrayId weights_id = declarations.weights(std::move(weights), rule);
  const std::uint64_t biases = init.bias ? outputs : 0;
  const ArrayId bias_id = declarations.weights({.name = name + ".bias", .shape = {biases}}, rule);
  declarations.layers.push_back({input, weights_id, bias_id});
}

}  // namespace

void declare_dense(const std::string& name, TensorId input, std::uint32_t outputs,
                   const DenseInit& init, const rules::RulePtr& rule, Declarations& declarations) {
  const Tensor& from = declarations[input];
  declare(name, input, from.size, from.source, outputs, init, rule, declarations);
}

void declare_dense_rows(const std::string& name, TensorId input, std::uint32_t width,
                        std::uint32_t outputs, const DenseInit& init, const rules::RulePtr& rule,
                        Declarations& declarations) {
  declare(name, input, width, nullptr, outputs, init, rule, declarations);
}

}  // namespace leveret::tape
