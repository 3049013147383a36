#include "block/mlp_block.h"

#include <algorithm>
#include <string>

#include "block/dense_products.h"
#include "block/layer_step.h"
#include "block/logistic.h"

namespace leveret::block {

namespace {

/// Segment by segment: what was input i of a segment stays input i of it.
std::uint32_t input_before(const InputLayout& from, const InputLayout& to, std::uint32_t column) {
  if (column < to.linear()) return column < from.linear() ? column : LearnedArray::kNewColumn;
  if (column >= to.first()) return from.first();
  const std::uint32_t segment = (column - to.linear()) / to.groups();
  const std::uint32_t group = (column - to.linear()) % to.groups();
  return group < from.groups() ? from.linear() + segment * from.groups() + group
                               : LearnedArray::kNewColumn;
}

}  // namespace

void MlpBlock::declare(const InputLayout& layout, Declarations& declarations) {
  std::uint32_t width = layout.size(config_.mixed);
  const auto layers = static_cast<std::uint32_t>(config_.hidden.size() + 1);
  for (std::uint32_t l = 0; l < layers; ++l) {
    DenseInit init;
    init.seed = config_.seed;
    init.layer = l;
    // The output neuron starts at zero: at first the deep part adds nothing.
    init.gain = l + 1 < layers ? 2.0f : 0.0f;
    init.moments = config_.layers_have_moments;
    init.init_acc = config_.layers_first_sum;
    const std::uint32_t outputs = l + 1 < layers ? config_.hidden[l] : 1;
    const bool none = layout.fields == 0;
    declare_dense("dense." + std::to_string(l), none ? 0 : width, none ? 0 : outputs, init,
                  l == 0 ? input_before : nullptr, declarations);
    width = outputs;
  }
}

void MlpBlock::open(const Parameters& parameters, std::size_t size, Tape& tape) const {
  // A part of a model may have fewer inputs than the fields make.
  const InputLayout& layout = parameters.layout;
  const std::size_t inputs =
      layout.fields > 0 ? width(parameters, 0) : layout.stride(config_.mixed);
  at_least(tape.inputs_store, size * inputs);
  at_least(tape.d_inputs_store, size * inputs + kernels::Kernels::kSpare);
  tape.inputs = tape.inputs_store;
  tape.d_inputs = tape.d_inputs_store;
  at_least(tape.hidden, config_.hidden.size());
  at_least(tape.d_hidden, config_.hidden.size());
  for (std::size_t l = 0; l < config_.hidden.size(); ++l) {
    at_least(tape.hidden[l], size * config_.hidden[l]);
    at_least(tape.d_hidden[l], size * config_.hidden[l]);
  }
}

void MlpBlock::forward(const Parameters& parameters, Tape& tape, std::size_t begin,
                       std::size_t end) const {
  forward_first(parameters, tape, begin, end);
  forward_rest(parameters, tape, begin, end);
}

/// Layer l's outputs before ReLU.
void MlpBlock::layer_forward(const Parameters& parameters, Tape& tape, std::size_t l,
                             std::size_t begin, std::size_t end) const {
  const ConstDense layer = parameters.layer(l);
  const std::size_t inputs = width(parameters, l);
  DenseProducts{kernels_, tape.gemm}.forward(layer, inputs, layer_input(tape, l) + begin * inputs,
                                             end - begin,
                                             tape.hidden[l].data() + begin * layer.outputs);
}

void MlpBlock::forward_rest(const Parameters& parameters, Tape& tape, std::size_t begin,
                            std::size_t end) const {
  const std::size_t hidden = parameters.layer_count() - 1;
  for (std::size_t l = 0; l < hidden; ++l) {
    if (l > 0) layer_forward(parameters, tape, l, begin, end);
    const std::size_t outputs = parameters.layer(l).outputs;
    float* const out = tape.hidden[l].data() + begin * outputs;
    const std::size_t outs = (end - begin) * outputs;
    for (std::size_t o = 0; o < outs; ++o) out[o] = std::max(out[o], 0.0f);
  }
  const ConstDense last = parameters.layer(hidden);
  const float* in = layer_input(tape, hidden) + begin * last.inputs;
  for (std::size_t b = begin; b < end; ++b, in += last.inputs) {
    tape.scores[b].layers = kernels_->dot(last.weights.data(), in, last.inputs);
    add_score(parameters, tape, b);
  }
}

void MlpBlock::add_score(const Parameters& parameters, Tape& tape, std::size_t b) const {
  Scores& scores = tape.scores[b];
  const float bias = parameters.layer(parameters.layer_count() - 1).bias[0];
  scores.deep = scores.ffm + bias + scores.layers;
  if (config_.mixed) scores.deep = clamp_score(scores.deep);
  scores.last = scores.deep;
}

/// Layer by layer, all examples, the output neuron first.
void MlpBlock::backward(const Parameters& parameters, Tape& tape) const {
  clear_unlearned(parameters, tape);
  at_least(tape.d_output, tape.size);
  for (std::size_t b = 0; b < tape.size; ++b) tape.d_output[b] = tape.scores[b].d_deep;
  const float* d_out = tape.d_output.data();
  for (std::size_t l = parameters.layer_count(); l-- > 0;) {
    const std::size_t inputs = width(parameters, l);
    const float* const in = layer_input(tape, l);
    float* const d_in = l == 0 ? tape.d_inputs.data() : tape.d_hidden[l - 1].data();
    if (tape.layer_learner != nullptr) {
      tape.layer_learner->take({l, tape.size, inputs, in, d_out, d_in});
    } else {
      DenseProducts{kernels_, tape.gemm}.backward(parameters.layer(l), inputs, d_out, tape.size,
                                                  d_in);
    }
    if (l == 0) return;
    for (std::size_t i = 0; i < tape.size * inputs; ++i) d_in[i] = in[i] > 0.0f ? d_in[i] : 0.0f;
    d_out = d_in;
  }
}

/// What is not learned from must not meet the gradients of others, as 0 times what is not finite is
/// not 0.
void MlpBlock::clear_unlearned(const Parameters& parameters, Tape& tape) {
  for (std::size_t b = 0; b < tape.size; ++b) {
    for (std::size_t l = 0; !tape.scores[b].learn && l < parameters.layer_count(); ++l) {
      std::fill_n(layer_input(tape, l) + b * width(parameters, l), width(parameters, l), 0.0f);
    }
  }
}

}  // namespace leveret::block
