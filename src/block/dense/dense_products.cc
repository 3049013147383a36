#include "block/dense/dense_products.h"

#include <algorithm>
#include <vector>

namespace leveret::block {

void DenseProducts::forward(const tape::ConstDense& layer, std::size_t width, const float* in,
                            std::size_t examples, float* out) const {
  const GemmShape shape{width, layer.outputs, layer.stride(), examples};
  if (gemm == nullptr || !forward_pays(shape)) {
    std::vector<float> zeros;
    if (layer.bias.empty()) zeros.assign(layer.outputs, 0.0f);
    kernels->dense_forward(layer.weights.data(),
                           layer.bias.empty() ? zeros.data() : layer.bias.data(), in, width,
                           layer.outputs, layer.stride(), examples, out);
    return;
  }
  for (std::size_t b = 0; b < examples; ++b) {
    float* const to = out + b * layer.outputs;
    if (layer.bias.empty()) {
      std::fill_n(to, layer.outputs, 0.0f);
    } else {
      std::copy_n(layer.bias.data(), layer.outputs, to);
    }
  }
  gemm->forward(shape, layer.weights.data(), in, out);
}

void DenseProducts::backward(const tape::ConstDense& layer, std::size_t width, const float* d_out,
                             std::size_t examples, float* d_in) const {
  const GemmShape shape{width, layer.outputs, layer.stride(), examples};
  const float* const end = d_out + examples * layer.outputs;
  if (gemm != nullptr) {
    const std::ptrdiff_t fired = std::count_if(d_out, end, [](float d) { return d != 0.0f; });
    if (backward_pays(shape, static_cast<std::size_t>(fired))) {
      gemm->backward(shape, layer.weights.data(), d_out, d_in);
      return;
    }
  }
  for (std::size_t b = 0; b < examples; ++b) {
    kernels->dense_backward(layer.weights.data(), d_out + b * layer.outputs, width, layer.outputs,
                            layer.stride(), d_in + b * width);
  }
}

}  // namespace leveret::block
