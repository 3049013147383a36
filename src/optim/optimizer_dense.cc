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
/// neither are batches, as they have GEMM; but the last batch of a stream may hold one example.
bool Optimizer::in_one_pass(const Tape& tape) const {
  return learning_.optimizer != OptimizerKind::kAdam && (tape.size == 1 || tape.gemm == nullptr) &&
         tape.size <= kernels::kMostTogether;
}

void Optimizer::take_layer(Parameters& parameters, const Tape& tape, const block::LayerStep& step) {
  if (in_one_pass(tape)) return pass_layer(parameters, step);
  const block::DenseProducts products{kernels_, tape.gemm};
  products.backward(std::as_const(parameters).layer(step.layer), step.inputs, step.d_out,
                    step.examples, step.d_in);
  apply_layer(parameters.scalars, tape,
              {parameters.layer(step.layer), step.in, step.inputs, step.d_out});
}

void Optimizer::pass_layer(Parameters& parameters, const block::LayerStep& at) {
  kernels::StepRule rule = step_rule(learning_, learning_.nn);
  rule.keep = block::kept_of_sums(parameters.scalars, config_);
  const block::Dense layer = parameters.layer(at.layer);
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

/// The gradient of a layer's weights, in rows as they have, in layer_sums_.
void Optimizer::sum_by_gemm(const Tape& tape, const LayerPart& at) {
  layer_sums_.resize(at.layer.stride() * at.layer.outputs);
  tape.gemm->weight_gradient({at.width, at.layer.outputs, at.layer.stride(), tape.size}, at.d_out,
                             at.in, layer_sums_.data());
}

/// The same of neuron o alone, where the layer's have not been made: of examples in which it fired.
const float* Optimizer::sum_of_neuron(const Tape& tape, const LayerPart& at, std::uint32_t o) {
  const std::size_t inputs = at.layer.inputs;
  layer_sums_.assign(inputs, 0.0f);
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float d = tape.scores[b].learn ? at.d_out[b * at.layer.outputs + o] : 0.0f;
    if (d != 0.0f) kernels_->axpy(d, at.in + b * at.width, inputs, layer_sums_.data());
  }
  return layer_sums_.data();
}

/// Row by row, so that a neuron that no example of the batch fired costs nothing, and stays as it
/// is.
void Optimizer::apply_layer(const block::Scalars& scalars, const Tape& tape, const LayerPart& at) {
  const block::Dense& layer = at.layer;
  const float kept = block::kept_of_sums(scalars, config_);
  const bool together =
      tape.gemm != nullptr &&
      block::weight_gradient_pays({at.width, layer.outputs, layer.stride(), tape.size});
  if (together) sum_by_gemm(tape, at);
  for (std::uint32_t o = 0; o < layer.outputs; ++o) {
    kernels::StepRule rule = step_rule(learning_, learning_.nn);
    float bias = 0;
    bool any = false;
    for (std::size_t b = 0; b < tape.size; ++b) {
      const float d = tape.scores[b].learn ? at.d_out[b * layer.outputs + o] : 0.0f;
      if (d == 0.0f) continue;
      any = true;
      rule.keep *= kept;
      bias += d;
    }
    if (!any) continue;
    const float* const sums =
        together ? layer_sums_.data() + o * layer.stride() : sum_of_neuron(tape, at, o);
    step_neuron(layer, o, sums, bias, rule, scalars.adam_steps + 1);
  }
}

/// One step of a neuron's weights and, where the layer has them, its bias.
void Optimizer::step_neuron(const block::Dense& layer, std::uint32_t o, const float* gradient,
                            float bias_gradient, const kernels::StepRule& rule,
                            std::uint64_t adam_step) const {
  const std::size_t row = o * layer.stride();
  if (learning_.optimizer == OptimizerKind::kAdam) {
    adam(adam_step, &layer.weights[row], &layer.weights_moment[row], &layer.weights_state[row],
         gradient, layer.inputs);
    if (layer.bias.empty()) return;
    adam(adam_step, &layer.bias[o], &layer.bias_moment[o], &layer.bias_state[o], &bias_gradient, 1);
    return;
  }
  kernels_->update(&layer.weights[row], &layer.weights_state[row], gradient, layer.inputs, rule);
  if (layer.bias.empty()) return;
  kernels_->update(&layer.bias[o], &layer.bias_state[o], &bias_gradient, 1, rule);
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
