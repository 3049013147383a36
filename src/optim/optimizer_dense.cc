// Optimizer: dense layers.
#include <algorithm>
#include <cmath>
#include <utility>

#include "block/dense_products.h"
#include "block/forgetting.h"
#include "block/gemm.h"
#include "optim/optimizer.h"

namespace leveret::optim {

/// Whether a layer's way back and its step are made together, weight by weight. Adam is not, and
/// neither are batches, as they have GEMM, unless they hold one example.
bool Optimizer::in_one_pass(const Tape& tape) const {
  return learning_.nn.rule != UpdateRule::kAdam && (tape.size == 1 || tape.gemm == nullptr) &&
         tape.size <= kernels::kMostTogether;
}

// Neither is inline: GCC 14 would take the tape's pointer for one that outlives its object
// (-Wdangling-pointer).
Optimizer::LayerSteps::LayerSteps(Optimizer& optimizer, Parameters& parameters, Tape& tape,
                                  std::span<float> sums)
    : optimizer_(optimizer), parameters_(parameters), tape_(tape), sums_(sums) {
  tape.layer_learner = this;
}

Optimizer::LayerSteps::~LayerSteps() { tape_.layer_learner = nullptr; }

void Optimizer::take_layer(Parameters& parameters, const Tape& tape, const tape::LayerStep& step) {
  if (in_one_pass(tape)) return pass_layer(parameters, step);
  const block::DenseProducts products{kernels_, tape.gemm};
  products.backward(std::as_const(parameters).layer(step.layer), step.inputs, step.d_out,
                    step.examples, step.d_in);
  apply_layer(parameters.scalars, tape,
              {parameters.layer(step.layer), step.in, step.inputs, step.d_out});
}

void Optimizer::pass_layer(Parameters& parameters, const tape::LayerStep& at) {
  kernels::StepRule rule = step_rule(learning_, learning_.nn);
  rule.keep = block::kept_of_sums(parameters.scalars, config_);
  const tape::Dense layer = parameters.layer(at.layer);
  kernels_->dense_backward_update(layer.weights.data(), layer.weights_state.data(), at.in, at.d_out,
                                  at.inputs, layer.outputs, layer.stride(), at.examples, rule,
                                  at.d_in);
  // A bias is the weight of an input that is 1 in each example.
  if (at.examples == 1) {
    kernels_->update(layer.bias.data(), layer.bias_state.data(), at.d_out, layer.outputs, rule);
    return;
  }
  for (std::uint32_t o = 0; o < layer.outputs; ++o) {
    kernels::StepRule of_neuron = rule;
    of_neuron.keep = 1;
    float d_bias = 0;
    for (std::size_t b = 0; b < at.examples; ++b) {
      const float d = at.d_out[b * layer.outputs + o];
      d_bias += d;
      if (d != 0.0f) of_neuron.keep *= rule.keep;
    }
    kernels_->update(&layer.bias[o], &layer.bias_state[o], &d_bias, 1, of_neuron);
  }
}

/// Makes the gradient of a layer's weights, in rows as they have, where that pays, in layer_sums_.
bool Optimizer::sum_together(const Tape& tape, const LayerPart& at) {
  const block::GemmShape shape{at.width, at.layer.outputs, at.layer.stride(), tape.size};
  if (tape.gemm == nullptr || !block::weight_gradient_pays(shape)) return false;
  layer_sums_.resize(at.layer.stride() * at.layer.outputs);
  tape.gemm->weight_gradient(shape, at.d_out, at.in, layer_sums_.data());
  return true;
}

/// Of examples in which neuron o fired. Its weights' gradient is made here where the layer's has
/// not been made (`together`); it stays until the next one's is.
Optimizer::NeuronSum Optimizer::sum_of_neuron(const Tape& tape, const LayerPart& at,
                                              std::uint32_t o, bool together) {
  NeuronSum sum = {};
  const auto d_of = [&](std::size_t b) {
    return tape.learn[b] ? at.d_out[b * at.layer.outputs + o] : 0.0f;
  };
  for (std::size_t b = 0; b < tape.size; ++b) {
    sum.fired += d_of(b) != 0.0f;
    sum.bias += d_of(b);
  }
  if (sum.fired == 0) return sum;
  if (together) {
    sum.gradient = layer_sums_.data() + o * at.layer.stride();
    return sum;
  }
  const std::size_t inputs = at.layer.inputs;
  layer_sums_.assign(inputs, 0.0f);
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float d = d_of(b);
    if (d != 0.0f) kernels_->axpy(d, at.in + b * at.width, inputs, layer_sums_.data());
  }
  sum.gradient = layer_sums_.data();
  return sum;
}

/// Row by row, so that a neuron that no example of the batch fired costs nothing, and stays as it
/// is.
void Optimizer::apply_layer(const tape::Scalars& scalars, const Tape& tape, const LayerPart& at) {
  const bool together = sum_together(tape, at);
  for (std::uint32_t o = 0; o < at.layer.outputs; ++o) {
    step_neuron(scalars, at.layer, o, sum_of_neuron(tape, at, o, together));
  }
}

/// One step of a neuron's weights and, where the layer has them, its bias.
void Optimizer::step_neuron(const tape::Scalars& scalars, const tape::Dense& layer, std::uint32_t o,
                            const NeuronSum& sum) const {
  if (sum.fired == 0) return;
  const std::size_t row = o * layer.stride();
  if (learning_.nn.rule == UpdateRule::kAdam) {
    const std::uint64_t step = scalars.adam_steps + 1;
    adam(step, &layer.weights[row], &layer.weights_moment[row], &layer.weights_state[row],
         sum.gradient, layer.inputs);
    if (layer.bias.empty()) return;
    adam(step, &layer.bias[o], &layer.bias_moment[o], &layer.bias_state[o], &sum.bias, 1);
    return;
  }
  kernels::StepRule rule = step_rule(learning_, learning_.nn);
  const float kept = block::kept_of_sums(scalars, config_);
  for (std::size_t b = 0; b < sum.fired; ++b) rule.keep *= kept;
  kernels_->update(&layer.weights[row], &layer.weights_state[row], sum.gradient, layer.inputs,
                   rule);
  if (layer.bias.empty()) return;
  kernels_->update(&layer.bias[o], &layer.bias_state[o], &sum.bias, 1, rule);
}

/// Kingma and Ba 2015, algorithm 1, lazily: only rows with a gradient take a step.
void Optimizer::adam(std::uint64_t step, float* w, float* first, float* second, const float* g,
                     std::size_t length) const {
  constexpr float kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;
  const float t = static_cast<float>(step);
  const float unbias1 = 1.0f / (1.0f - std::pow(kBeta1, t));
  const float unbias2 = 1.0f / (1.0f - std::pow(kBeta2, t));
  for (std::size_t i = 0; i < length; ++i) {
    const float gradient = g[i] + learning_.l2 * w[i];
    if (!std::isfinite(gradient * gradient)) continue;
    first[i] = kBeta1 * first[i] + (1.0f - kBeta1) * gradient;
    second[i] = kBeta2 * second[i] + (1.0f - kBeta2) * gradient * gradient;
    w[i] -= learning_.nn.rate * first[i] * unbias1 / (std::sqrt(second[i] * unbias2) + kEpsilon);
  }
}

}  // namespace leveret::optim
