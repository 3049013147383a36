#include "block/mlp_block.h"

#include <algorithm>

#include "block/logistic.h"

namespace leveret::block {

void MlpBlock::forward(const Parameters& parameters, Tape& tape, std::size_t begin,
                       std::size_t end) const {
  const std::vector<Dense>& layers = parameters.layers;
  if (layers.empty()) return;  // no field has been met yet
  layer_forward(layers, tape, 0, begin, end);
  forward_rest(parameters, tape, begin, end);
}

/// Layer l's outputs before ReLU.
void MlpBlock::layer_forward(const std::vector<Dense>& layers, Tape& tape, std::size_t l,
                             std::size_t begin, std::size_t end) const {
  const Dense& layer = layers[l];
  const GemmShape shape = shape_of(layers, l, end - begin);
  const float* const in = layer_input(tape, l) + begin * shape.inputs;
  float* const out = tape.hidden[l].data() + begin * layer.outputs;
  if (tape.gemm == nullptr || !forward_pays(shape)) {
    kernels_->dense_forward(layer.weights.data(), layer.bias.data(), in, shape.inputs,
                            layer.outputs, layer.stride(), shape.examples, out);
    return;
  }
  for (std::size_t b = 0; b < shape.examples; ++b) {
    std::copy_n(layer.bias.data(), layer.outputs, out + b * layer.outputs);
  }
  tape.gemm->forward(shape, layer.weights.data(), in, out);
}

void MlpBlock::forward_rest(const Parameters& parameters, Tape& tape, std::size_t begin,
                            std::size_t end) const {
  const std::vector<Dense>& layers = parameters.layers;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
    if (l > 0) layer_forward(layers, tape, l, begin, end);
    float* const out = tape.hidden[l].data() + begin * layers[l].outputs;
    const std::size_t outs = (end - begin) * layers[l].outputs;
    for (std::size_t o = 0; o < outs; ++o) out[o] = std::max(out[o], 0.0f);
  }
  const Dense& last = layers.back();
  const float* in = layer_input(tape, layers.size() - 1) + begin * last.inputs;
  for (std::size_t b = begin; b < end; ++b, in += last.inputs) {
    Scores& scores = tape.scores[b];
    scores.deep = scores.ffm + last.bias[0] + kernels_->dot(last.weights.data(), in, last.inputs);
    if (config_.mixed) scores.deep = clamp_score(scores.deep);
    scores.last = scores.deep;
  }
}

void MlpBlock::backward(const Parameters& parameters, Tape& tape) const {
  const std::vector<Dense>& layers = parameters.layers;
  if (tape.gemm != nullptr) return backward_together(layers, tape);
  for (std::size_t b = 0; b < tape.size; ++b) {
    backward_by_layer(layers, tape, b, 1, &tape.scores[b].d_deep, [&](const LayerStep& at) {
      const Dense& layer = layers[at.layer];
      kernels_->dense_backward(layer.weights.data(), at.d_out, at.inputs, layer.outputs,
                               layer.stride(), at.d_in);
    });
  }
}

/// Layer by layer, all examples. What is not learned from must not meet the gradients of others,
/// as 0 times what is not finite is not 0.
void MlpBlock::backward_together(const std::vector<Dense>& layers, Tape& tape) const {
  tape.d_output.resize(tape.size);
  for (std::size_t b = 0; b < tape.size; ++b) {
    tape.d_output[b] = tape.scores[b].d_deep;
    for (std::size_t l = 0; !tape.scores[b].learn && l < layers.size(); ++l) {
      std::fill_n(layer_input(tape, l) + b * width(layers, l), width(layers, l), 0.0f);
    }
  }
  backward_by_layer(layers, tape, 0, tape.size, tape.d_output.data(),
                    [&](const LayerStep& at) { layer_backward(layers[at.layer], tape, at); });
}

/// Input gradients of all examples.
void MlpBlock::layer_backward(const Dense& layer, const Tape& tape, const LayerStep& at) const {
  const GemmShape shape{at.inputs, layer.outputs, layer.stride(), tape.size};
  const float* const end = at.d_out + tape.size * layer.outputs;
  const std::ptrdiff_t fired = std::count_if(at.d_out, end, [](float d) { return d != 0.0f; });
  if (backward_pays(shape, static_cast<std::size_t>(fired))) {
    tape.gemm->backward(shape, layer.weights.data(), at.d_out, at.d_in);
    return;
  }
  for (std::size_t b = 0; b < tape.size; ++b) {
    kernels_->dense_backward(layer.weights.data(), at.d_out + b * layer.outputs, at.inputs,
                             layer.outputs, layer.stride(), at.d_in + b * at.inputs);
  }
}

}  // namespace leveret::block
