#include "optim/layer_optimizer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "block/dense/dense_products.h"
#include "block/dense/gemm.h"
#include "block/forgetting.h"
#include "optim/clip.h"
#include "optim/moved.h"
#include "optim/warmup.h"

namespace leveret::optim {
namespace {

/// Floats of a neuron's sums: examples that fired it, its bias's gradient, its weights'.
std::size_t floats_of_neuron(std::uint32_t inputs) { return std::size_t{2} + inputs; }

/// Layers rest until there is a field.
std::size_t layer_count(const tape::Parameters& parameters) {
  return parameters.layout.fields > 0 ? parameters.layer_count() : 0;
}

/// Where the sums of this layer begin.
std::size_t sums_begin(const tape::Parameters& parameters, std::size_t layer) {
  std::size_t floats = 0;
  for (std::size_t l = 0; l < layer; ++l) {
    const tape::ConstDense before = parameters.layer(l);
    floats += before.outputs * floats_of_neuron(before.inputs);
  }
  return floats;
}

}  // namespace

/// Whether a layer's way back and its step are made together, weight by weight, by a rule that
/// kernels know. A neuron's gradient that may have to be clipped is needed as a whole. Batches are
/// not, as they have GEMM, unless they hold one example; nor are several rows of an example, by
/// which G forgets once.
bool LayerOptimizer::in_one_pass(const tape::Tape& tape, const rules::Rule& rule,
                                 const tape::LayerRows& rows) const {
  return rule.fused() != nullptr && config_.layers_clip == 0 &&
         (rows.examples == nullptr || rows.count == 1) &&
         (rows.count == 1 || tape.gemm == nullptr) && rows.count <= kernels::kMostTogether;
}

void LayerOptimizer::step(tape::Parameters& parameters, const tape::Tape& tape,
                          const tape::LayerGradient& gradient) {
  const tape::LearnedDense layer = parameters.learned_layer(gradient.layer);
  const tape::LayerGradient at = bounded_.layer(gradient, layer.inputs, layer.outputs);
  if (in_one_pass(tape, *layer.rule, at.rows)) return pass(parameters.scalars, layer, at);
  const block::DenseProducts products{kernels_, tape.gemm};
  products.backward(std::as_const(parameters).layer(at.layer), at);
  step_part(parameters.scalars, tape, {layer, at.rows, at.d_out});
}

void LayerOptimizer::pass(const tape::Scalars& scalars, const tape::LearnedDense& layer,
                          const tape::LayerGradient& at) {
  kernels::StepRule rule = *layer.rule->fused();
  rule.decay = block::decay_of_sums(scalars, config_);
  rule.rate *= warmth(scalars, config_);
  kernels_->dense_backward_update(layer.weights.data(), layer.weights_states[0].data(), at.rows.in,
                                  at.d_out, at.rows.width, layer.outputs, layer.stride(),
                                  at.rows.count, rule, at.d_in);
  step_biases(layer, at, rule);
}

/// A bias is the weight of an input that is 1 in each row.
void LayerOptimizer::step_biases(const tape::LearnedDense& layer, const tape::LayerGradient& at,
                                 const kernels::StepRule& rule) const {
  if (layer.bias.empty()) return;
  const std::span<float> sums = layer.bias_states[0];
  if (at.rows.count == 1) {
    kernels_->update(layer.bias.data(), sums.data(), at.d_out, layer.outputs, rule);
    return;
  }
  for (std::uint32_t o = 0; o < layer.outputs; ++o) {
    kernels::StepRule of_neuron = rule;
    of_neuron.decay = 1;
    float d_bias = 0;
    for (std::size_t b = 0; b < at.rows.count; ++b) {
      const float d = at.d_out[b * layer.outputs + o];
      d_bias += d;
      if (d != 0.0f) of_neuron.decay *= rule.decay;
    }
    kernels_->update(&layer.bias[o], &sums[o], &d_bias, 1, of_neuron);
  }
}

/// Makes the gradient of a layer's weights, in rows as they have, where that pays, in layer_sums_.
bool LayerOptimizer::sum_together(const tape::Tape& tape, const LayerPart& at) {
  const std::size_t outputs = at.layer.outputs, stride = at.layer.stride();
  const block::GemmShape shape{at.rows.width, outputs, stride, at.rows.count};
  const bool by_gemm = tape.gemm != nullptr && block::weight_gradient_pays(shape);
  if (!by_gemm && at.rows.examples == nullptr) return false;
  if (by_gemm) {
    layer_sums_.resize(stride * outputs);
    tape.gemm->weight_gradient(shape, at.d_out, at.rows.in, layer_sums_.data());
  } else {
    layer_sums_.assign(stride * outputs, 0.0f);
    kernels_->multiply_add(
        {outputs, at.rows.count, at.layer.inputs, 1, outputs, at.rows.width, stride}, at.d_out,
        at.rows.in, layer_sums_.data());
  }
  return true;
}

/// The gradients of biases, and the number of examples for which each neuron fired.
void LayerOptimizer::sum_neurons(const LayerPart& at) {
  const std::uint32_t outputs = at.layer.outputs;
  d_biases_.assign(outputs, 0.0f);
  fired_.assign(outputs, 0);
  fires_.assign(outputs, 0);
  const auto end_example = [&] {
    for (std::uint32_t o = 0; o < outputs; ++o) fired_[o] += std::exchange(fires_[o], 0);
  };
  for (std::size_t i = 0; i < learned_.size(); ++i) {
    const std::uint32_t r = learned_[i];
    const float* const d = at.d_out + std::size_t{r} * outputs;
    kernels_->axpy(1.0f, d, outputs, d_biases_.data());
    for (std::uint32_t o = 0; o < outputs; ++o) fires_[o] |= d[o] != 0.0f ? 1 : 0;
    const bool is_last =
        i + 1 == learned_.size() || at.rows.example_of(learned_[i + 1]) != at.rows.example_of(r);
    if (is_last) end_example();
  }
}

void LayerOptimizer::find_learned(const tape::Tape& tape, const tape::LayerRows& rows) {
  learned_.clear();
  for (std::size_t r = 0; r < rows.count; ++r) {
    if (tape.learn[rows.example_of(r)]) learned_.push_back(static_cast<std::uint32_t>(r));
  }
}

/// The sums of the rows, learned_ among them, for which neuron o fired. Its weights' gradient is
/// made here where the layer's has not been made (`together`); it stays until the next one's is.
LayerOptimizer::NeuronSum LayerOptimizer::sum_of_neuron(const LayerPart& at, std::uint32_t o,
                                                        bool together) {
  if (together) {
    return {fired_[o], d_biases_[o], layer_sums_.data() + o * at.layer.stride()};
  }
  NeuronSum sum = {};
  const auto d_of = [&](std::uint32_t r) { return at.d_out[r * at.layer.outputs + o]; };
  std::size_t last = ~std::size_t{0};
  for (const std::uint32_t r : learned_) {
    const float d = d_of(r);
    sum.bias += d;
    if (d == 0.0f || at.rows.example_of(r) == last) continue;
    last = at.rows.example_of(r);
    ++sum.fired;
  }
  if (sum.fired == 0) return sum;
  const std::size_t inputs = at.layer.inputs;
  layer_sums_.assign(inputs, 0.0f);
  for (const std::uint32_t r : learned_) {
    const float d = d_of(r);
    if (d != 0.0f) kernels_->axpy(d, at.rows.in + r * at.rows.width, inputs, layer_sums_.data());
  }
  sum.gradient = layer_sums_.data();
  return sum;
}

void LayerOptimizer::step_part(const tape::Scalars& scalars, const tape::Tape& tape,
                               const LayerPart& at) {
  find_learned(tape, at.rows);
  if (learned_.empty()) return;  // also where an expert has no rows
  const bool together = sum_together(tape, at);
  if (together) sum_neurons(at);
  for (std::uint32_t o = 0; o < at.layer.outputs; ++o) {
    step_neuron(scalars, at.layer, o, sum_of_neuron(at, o, together));
  }
}

/// The share of a neuron's sums that so many examples leave.
float LayerOptimizer::decay_of(const tape::Scalars& scalars, std::size_t examples) {
  const float one = block::decay_of_sums(scalars, config_);
  if (decays_.empty() || one != decay_of_one_) {
    decays_.assign(1, 1.0f);
    decay_of_one_ = one;
  }
  while (decays_.size() <= examples) decays_.push_back(decays_.back() * one);
  return decays_[examples];
}

/// The sum with a gradient of at most --nn_clip; its weights' stays until the next one's is made.
LayerOptimizer::NeuronSum LayerOptimizer::clipped(NeuronSum sum, std::uint32_t inputs) {
  const double squares = squares_of({sum.gradient, inputs}) + squares_of({&sum.bias, 1});
  const float factor = clip_factor(squares, config_.layers_clip);
  if (factor == 1.0f) return sum;
  clipped_.resize(inputs);
  kernels_->scale(sum.gradient, inputs, factor, clipped_.data());
  return {sum.fired, factor * sum.bias, clipped_.data()};
}

/// One step of a neuron's weights and, where the layer has them, its bias.
void LayerOptimizer::step_neuron(const tape::Scalars& scalars, const tape::LearnedDense& layer,
                                 std::uint32_t o, const NeuronSum& whole) {
  if (whole.fired == 0) return;
  const NeuronSum sum = config_.layers_clip > 0 ? clipped(whole, layer.inputs) : whole;
  const float decay = decay_of(scalars, sum.fired), share = warmth(scalars, config_);
  // Kernels leave out what is beyond bounds themselves.
  const bool fused = layer.rule->fused() != nullptr;
  const float* const gradient =
      fused ? sum.gradient : bounded_sums_.numbers(sum.gradient, layer.inputs);
  const float d_bias = fused ? sum.bias : bounded(sum.bias);
  const Vectors weights{layer.weights.data(), gradient, layer.inputs, layer.stride()};
  layer.rule->step(*kernels_, moved(*layer.rule, weights, o, layer.weights_states, decay, share));
  if (layer.bias.empty()) return;
  const Vectors bias{layer.bias.data(), &d_bias, 1, 1};
  layer.rule->step(*kernels_, moved(*layer.rule, bias, o, layer.bias_states, decay, share));
}

std::size_t LayerOptimizer::sum_floats(const tape::Parameters& parameters) {
  return sums_begin(parameters, layer_count(parameters));
}

void LayerOptimizer::sum(tape::Parameters& parameters, const tape::Tape& tape,
                         const tape::LayerGradient& whole, std::span<float> to) {
  const tape::ConstDense layer = std::as_const(parameters).layer(whole.layer);
  const tape::LayerGradient gradient = bounded_.layer(whole, layer.inputs, layer.outputs);
  const block::DenseProducts products{kernels_, tape.gemm};
  products.backward(layer, gradient);
  const LayerPart at = {parameters.learned_layer(gradient.layer), gradient.rows, gradient.d_out};
  float* neuron = to.data() + sums_begin(parameters, gradient.layer);
  find_learned(tape, at.rows);
  if (learned_.empty()) return;  // also where an expert has no rows
  const bool together = sum_together(tape, at);
  if (together) sum_neurons(at);
  for (std::uint32_t o = 0; o < at.layer.outputs; ++o) {
    const NeuronSum sum = sum_of_neuron(at, o, together);
    neuron[0] = static_cast<float>(sum.fired);
    neuron[1] = sum.bias;
    if (sum.fired > 0) std::copy_n(sum.gradient, at.layer.inputs, neuron + 2);
    neuron += floats_of_neuron(at.layer.inputs);
  }
}

void LayerOptimizer::step_by_sums(tape::Parameters& parameters, std::span<const float> sums) {
  const float* neuron = sums.data();
  for (std::size_t l = 0; l < layer_count(parameters); ++l) {
    const tape::LearnedDense layer = parameters.learned_layer(l);
    for (std::uint32_t o = 0; o < layer.outputs; ++o) {
      step_neuron(parameters.scalars, layer, o,
                  {static_cast<std::size_t>(neuron[0]), neuron[1], neuron + 2});
      neuron += floats_of_neuron(layer.inputs);
    }
  }
}

}  // namespace leveret::optim
