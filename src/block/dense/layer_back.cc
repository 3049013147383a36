#include "block/dense/layer_back.h"

#include <algorithm>

#include "block/dense/dense_products.h"

namespace leveret::block {

void layer_back(const kernels::Kernels& kernels, const tape::Parameters& parameters,
                tape::Tape& tape, const tape::LayerGradient& gradient) {
  if (tape.sink != nullptr) return tape.sink->layer(gradient);
  DenseProducts{&kernels, tape.gemm}.backward(parameters.layer(gradient.layer), gradient);
}

void layer_back(const kernels::Kernels& kernels, const tape::Parameters& parameters,
                tape::Tape& tape, std::size_t layer, const tape::TensorPlace& in,
                const float* d_out, float* d_in) {
  layer_back(kernels, parameters, tape, {layer, {tape.size, in.stride, in.values}, d_out, d_in});
}

void clear_unlearned(tape::Tape& tape, std::span<const tape::TensorId> inputs) {
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (tape.learn[b]) continue;
    for (const tape::TensorId id : inputs) {
      if (id != tape::TensorId::kNone) std::fill_n(tape[id].at(b), tape[id].stride, 0.0f);
    }
  }
}

}  // namespace leveret::block
