// Optimizer: sums of gradients in place of steps, and steps by such sums. With one head.
#include <algorithm>
#include <cassert>
#include <utility>

#include "block/dense_products.h"
#include "optim/optimizer.h"

namespace leveret::optim {
namespace {

/// Places of what is counted, before the layers' sums.
enum Common : std::size_t { kLearned, kDropped, kConstant, kLayers };

/// Of a neuron: examples that fired it, its bias's gradient, then its weights'.
std::size_t floats_of_neuron(std::uint32_t inputs) { return std::size_t{2} + inputs; }

/// Layers rest until there is a field.
std::size_t layer_count(const tape::Parameters& parameters) {
  return parameters.layout.fields > 0 ? parameters.layer_count() : 0;
}

}  // namespace

/// What each neuron has is told, whether it fired or not.
std::size_t Optimizer::common_floats(const Parameters& parameters) {
  std::size_t floats = kLayers;
  for (std::size_t l = 0; l < layer_count(parameters); ++l) {
    const tape::ConstDense layer = parameters.layer(l);
    floats += layer.outputs * floats_of_neuron(layer.inputs);
  }
  return floats;
}

void Optimizer::sum_layer(Parameters& parameters, const Tape& tape, const tape::LayerStep& step,
                          std::span<float> to) {
  const block::DenseProducts products{kernels_, tape.gemm};
  products.backward(std::as_const(parameters).layer(step.layer), step.inputs, step.d_out,
                    step.examples, step.d_in);
  const LayerPart at = {parameters.layer(step.layer), step.in, step.inputs, step.d_out};
  float* neuron = to.data() + kLayers;
  for (std::size_t l = 0; l < step.layer; ++l) {
    const tape::ConstDense before = std::as_const(parameters).layer(l);
    neuron += before.outputs * floats_of_neuron(before.inputs);
  }
  const bool together = sum_together(tape, at);
  for (std::uint32_t o = 0; o < at.layer.outputs; ++o) {
    const NeuronSum sum = sum_of_neuron(tape, at, o, together);
    neuron[0] = static_cast<float>(sum.fired);
    neuron[1] = sum.bias;
    if (sum.fired > 0) std::copy_n(sum.gradient, at.layer.inputs, neuron + 2);
    neuron += floats_of_neuron(at.layer.inputs);
  }
}

void Optimizer::sum_common(const Tape& tape, std::span<float> to) {
  for (std::size_t b = 0; b < tape.size; ++b) {
    const bool learn = tape.learn[b];
    to[kLearned] += learn;
    to[kDropped] += !learn && wants_to_learn(tape, b);
  }
  if (tape.size > 0) to[kConstant] = tape.d_constant.linear;
}

/// In the order of `apply`: layers first.
void Optimizer::step_common(Parameters& parameters, std::span<const float> sums) {
  assert(!config_.mixed);
  tape::Scalars& scalars = parameters.scalars;
  const float* neuron = sums.data() + kLayers;
  for (std::size_t l = 0; l < layer_count(parameters); ++l) {
    const tape::Dense layer = parameters.layer(l);
    for (std::uint32_t o = 0; o < layer.outputs; ++o) {
      step_neuron(scalars, layer, o, {static_cast<std::size_t>(neuron[0]), neuron[1], neuron + 2});
      neuron += floats_of_neuron(layer.inputs);
    }
  }
  scalars.examples += static_cast<std::uint64_t>(sums[kLearned]);
  scalars.dropped_gradients += static_cast<std::uint64_t>(sums[kDropped]);
  if (sums[kLearned] == 0.0f) return;
  if (learning_.nn.rule == UpdateRule::kAdam) ++scalars.adam_steps;
  if (config_.constant) step_constants(scalars, {.linear = sums[kConstant]});
}

void Optimizer::sum_cells(const Parameters& parameters, const Tape& tape,
                          const std::function<void(const Cell&, float)>& visit) {
  sum_cells(parameters, tape);
  for (const CellGradient& sum : cells_) visit(*sum.cell, sum.g);
}

void Optimizer::step_cell(Cell& cell, float gradient) const {
  step_cell(CellGradient{.cell = &cell, .g = gradient});
}

void Optimizer::sum_rows(
    const Parameters& parameters, Tape& tape,
    const std::function<void(std::size_t, const std::byte*, const float*)>& visit) {
  if (tape.row_layout == nullptr || parameters.layout.fields == 0) return;
  for (std::size_t p = 0; p < tape.row_layout->parts().size(); ++p) {
    const auto each = [&](const BatchRow& row, const float* sum) { visit(p, row.row, sum); };
    if (tape.row_layout->parts()[p].by_field) {
      sum_slots(parameters, tape, each);
    } else {
      sum_vectors(tape, p, each);
    }
  }
}

void Optimizer::step_row(const Parameters& parameters, const table::RowLayout& layout, RowName name,
                         std::byte* row, const float* sums) {
  for (std::size_t p = 0; p < layout.parts().size(); ++p) {
    const table::RowPart& part = layout.parts()[p];
    part.by_field ? seed_noise(parameters) : seed_noise_of_vectors(parameters, p);
    const BatchRow of = {row, name.field, noise_of(name)};
    part.by_field ? step_by_sum(layout, of, sums) : step_vector_by_sum(layout, p, of, sums);
    sums += part.weights();
  }
}

}  // namespace leveret::optim
