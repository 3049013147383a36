// Optimizer: dense layers.
#include <algorithm>
#include <cmath>

#include "block/forgetting.h"
#include "block/gemm.h"
#include "block/mlp_block.h"
#include "optim/optimizer.h"

namespace leveret::optim {
bool Optimizer::steps_on_the_way(const Tape& tape) const {
  // The last batch of a stream may hold one example; Adam takes it as the batch that it is.
  return tape.size == 1 && learning_.optimizer != OptimizerKind::kAdam;
}

void Optimizer::backward_layers(Parameters& parameters, Tape& tape) {
  kernels::StepRule rule = step_rule(learning_, learning_.nn);
  rule.keep = block::kept_of_sums(parameters.scalars, config_);
  const std::size_t size = tape.size;
  output_gradients_.resize(size);
  for (std::size_t b = 0; b < size; ++b) output_gradients_[b] = tape.scores[b].d_deep;
  const auto step = [&](const block::MlpBlock::LayerStep& at) {
    const block::Dense layer = parameters.layer(at.layer);
    kernels_->dense_backward_update(layer.weights.data(), layer.weights_state.data(), at.in,
                                    at.d_out, at.inputs, layer.outputs, layer.stride(), size, rule,
                                    at.d_in);
    // A bias is the weight of an input that is 1 in each example.
    if (size == 1) {
      kernels_->update(layer.bias.data(), layer.bias_state.data(), at.d_out, layer.outputs, rule);
      return;
    }
    for (std::uint32_t o = 0; o < layer.outputs; ++o) {
      kernels::StepRule of_neuron = rule;
      of_neuron.keep = 1;
      float d_bias = 0;
      for (std::size_t b = 0; b < size; ++b) {
        const float d = at.d_out[b * layer.outputs + o];
        d_bias += d;
        if (d != 0.0f) of_neuron.keep *= rule.keep;
      }
      kernels_->update(&layer.bias[o], &layer.bias_state[o], &d_bias, 1, of_neuron);
    }
  };
  block::MlpBlock::backward_by_layer(parameters, tape, 0, size, output_gradients_.data(), step);
}

/// The gradient of a layer's weights, in rows as they have, in layer_sums_.
void Optimizer::sum_by_gemm(const Tape& tape, const block::Dense& layer, const LayerTape& at) {
  layer_sums_.resize(layer.stride() * layer.outputs);
  tape.gemm->weight_gradient({at.in_step, layer.outputs, layer.stride(), tape.size}, at.d_out,
                             at.in, layer_sums_.data());
}

/// The same of neuron o alone, where the layer's have not been made: of examples in which it fired.
const float* Optimizer::sum_of_neuron(const Tape& tape, const block::Dense& layer,
                                      const LayerTape& at, std::uint32_t o) {
  layer_sums_.assign(layer.inputs, 0.0f);
  for (std::size_t b = 0; b < tape.size; ++b) {
    const float d = tape.scores[b].learn ? at.d_of(b)[o] : 0.0f;
    if (d != 0.0f) kernels_->axpy(d, at.in + b * at.in_step, layer.inputs, layer_sums_.data());
  }
  return layer_sums_.data();
}

void Optimizer::apply_dense(Parameters& parameters, const Tape& tape) {
  static_assert(sizeof(Scores) % sizeof(float) == 0);
  ++parameters.scalars.adam_steps;
  for (std::size_t l = 0; l < parameters.layer_count(); ++l) {
    const block::Dense layer = parameters.layer(l);
    LayerTape at{block::MlpBlock::layer_input(tape, l), block::MlpBlock::width(parameters, l),
                 nullptr, layer.outputs};
    if (l + 1 < parameters.layer_count()) {
      at.d_out = tape.d_hidden[l].data();
    } else {
      at.d_out = &tape.scores[0].d_deep;
      at.d_step = sizeof(Scores) / sizeof(float);
    }
    apply_layer(parameters.scalars, tape, layer, at);
  }
}

/// Row by row, so that a neuron that no example of the batch fired costs nothing, and stays as it
/// is.
void Optimizer::apply_layer(const block::Scalars& scalars, const Tape& tape,
                            const block::Dense& layer, const LayerTape& at) {
  const float kept = block::kept_of_sums(scalars, config_);
  const bool together =
      tape.gemm != nullptr &&
      block::weight_gradient_pays({at.in_step, layer.outputs, layer.stride(), tape.size});
  if (together) sum_by_gemm(tape, layer, at);
  for (std::uint32_t o = 0; o < layer.outputs; ++o) {
    kernels::StepRule rule = step_rule(learning_, learning_.nn);
    float bias = 0;
    bool any = false;
    for (std::size_t b = 0; b < tape.size; ++b) {
      const float d = tape.scores[b].learn ? at.d_of(b)[o] : 0.0f;
      if (d == 0.0f) continue;
      any = true;
      rule.keep *= kept;
      bias += d;
    }
    if (!any) continue;
    const float* const sums =
        together ? layer_sums_.data() + o * layer.stride() : sum_of_neuron(tape, layer, at, o);
    step_neuron(layer, o, sums, bias, rule, scalars.adam_steps);
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
