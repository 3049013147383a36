#include "block/mlp_block.h"

#include <algorithm>

#include "block/logistic.h"

namespace leveret::block {

void MlpBlock::forward(const Parameters& parameters, Tape& tape, std::size_t begin,
                       std::size_t end) const {
  const std::vector<Dense>& layers = parameters.layers;
  if (layers.empty()) return;  // no field has been met yet
  const Dense& first = layers[0];
  kernels_->dense_forward(first.weights.data(), first.bias.data(),
                          tape.inputs.data() + begin * width(layers, 0), width(layers, 0),
                          first.outputs, first.stride(), end - begin,
                          tape.hidden[0].data() + begin * first.outputs);
  forward_rest(parameters, tape, begin, end);
}

void MlpBlock::forward_rest(const Parameters& parameters, Tape& tape, std::size_t begin,
                            std::size_t end) const {
  const std::vector<Dense>& layers = parameters.layers;
  const float* in = nullptr;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
    const Dense& layer = layers[l];
    float* out = tape.hidden[l].data() + begin * layer.outputs;
    if (l > 0) {
      kernels_->dense_forward(layer.weights.data(), layer.bias.data(), in, width(layers, l),
                              layer.outputs, layer.stride(), end - begin, out);
    }
    const std::size_t outs = (end - begin) * layer.outputs;
    for (std::size_t o = 0; o < outs; ++o) out[o] = std::max(out[o], 0.0f);
    in = out;
  }
  const Dense& last = layers.back();
  for (std::size_t b = begin; b < end; ++b, in += last.inputs) {
    Scores& scores = tape.scores[b];
    scores.deep = scores.ffm + last.bias[0] + kernels_->dot(last.weights.data(), in, last.inputs);
    if (config_.mixed) scores.deep = clamp_score(scores.deep);
    scores.last = scores.deep;
  }
}

void MlpBlock::backward(const Parameters& parameters, Tape& tape) const {
  const std::vector<Dense>& layers = parameters.layers;
  for (std::size_t b = 0; b < tape.size; ++b) {
    backward_by_layer(layers, tape, b, 1, &tape.scores[b].d_deep, [&](const LayerStep& at) {
      const Dense& layer = layers[at.layer];
      kernels_->dense_backward(layer.weights.data(), at.d_out, at.inputs, layer.outputs,
                               layer.stride(), at.d_in);
    });
  }
}

}  // namespace leveret::block
