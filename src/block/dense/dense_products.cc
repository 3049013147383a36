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
  put_biases(layer, examples, out);
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

void DenseProducts::backward(const tape::ConstDense& layer,
                             const tape::LayerGradient& gradient) const {
  const tape::LayerRows& rows = gradient.rows;
  if (rows.examples == nullptr) {
    return backward(layer, rows.width, gradient.d_out, rows.count, gradient.d_in);
  }
  backward_rows(layer, rows.width, gradient.d_out, rows.count, gradient.d_in);
}

void DenseProducts::put_biases(const tape::ConstDense& layer, std::size_t examples,
                               float* out) const {
  for (std::size_t b = 0; b < examples; ++b) {
    float* const to = out + b * layer.outputs;
    if (layer.bias.empty()) {
      std::fill_n(to, layer.outputs, 0.0f);
    } else {
      std::copy_n(layer.bias.data(), layer.outputs, to);
    }
  }
}

void DenseProducts::forward_rows(const tape::ConstDense& layer, const float* in, std::size_t rows,
                                 float* out, std::vector<float>& scratch) const {
  const std::size_t inputs = layer.inputs, outputs = layer.outputs;
  if (gemm != nullptr && forward_pays({inputs, outputs, layer.stride(), rows})) {
    return forward(layer, inputs, in, rows, out);
  }
  scratch.resize(inputs * outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t i = 0; i < inputs; ++i) {
      scratch[i * outputs + o] = layer.weights[o * layer.stride() + i];
    }
  }
  put_biases(layer, rows, out);
  kernels->multiply_add({rows, inputs, outputs, inputs, 1, outputs, outputs}, in, scratch.data(),
                        out);
}

void DenseProducts::backward_rows(const tape::ConstDense& layer, std::size_t width,
                                  const float* d_out, std::size_t rows, float* d_in) const {
  const GemmShape shape{width, layer.outputs, layer.stride(), rows};
  if (gemm != nullptr && forward_pays(shape)) {
    return gemm->backward(shape, layer.weights.data(), d_out, d_in);
  }
  std::fill_n(d_in, rows * width, 0.0f);
  kernels->multiply_add(
      {rows, layer.outputs, layer.inputs, layer.outputs, 1, layer.stride(), width}, d_out,
      layer.weights.data(), d_in);
}

}  // namespace leveret::block
