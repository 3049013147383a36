#include "block/dense/softmax_attention.h"

#include <algorithm>
#include <cmath>

namespace leveret::block {

void attend(const kernels::Kernels& kernels, const AttentionShape& shape,
            QueryKeyValue<const float> of, float* weights, float* out) {
  const std::size_t n = shape.tokens, dim = shape.dim;
  for (std::size_t h = 0; h < shape.heads; ++h) {
    for (std::size_t f = 0; f < n; ++f, weights += n) {
      const float* const q = of.q + f * shape.stride + h * dim;
      for (std::size_t g = 0; g < n; ++g) {
        weights[g] = shape.scale * kernels.dot(q, of.k + g * shape.stride + h * dim, dim);
      }
      const float most = *std::max_element(weights, weights + n);
      float sum = 0;
      for (std::size_t g = 0; g < n; ++g) sum += weights[g] = std::exp(weights[g] - most);
      float* const o = out + f * shape.made() + h * dim;
      for (std::size_t g = 0; g < n; ++g) {
        weights[g] /= sum;
        kernels.axpy(weights[g], of.v + g * shape.stride + h * dim, dim, o);
      }
    }
  }
}

void attend_back(const kernels::Kernels& kernels, const AttentionShape& shape,
                 QueryKeyValue<const float> of, const float* weights, const float* d_out,
                 QueryKeyValue<float> d, float* scratch) {
  const std::size_t n = shape.tokens, dim = shape.dim;
  for (std::size_t h = 0; h < shape.heads; ++h) {
    const auto at = [&](std::size_t token) { return token * shape.stride + h * dim; };
    for (std::size_t f = 0; f < n; ++f, weights += n) {
      const float* const d_o = d_out + f * shape.made() + h * dim;
      float mean = 0;
      for (std::size_t g = 0; g < n; ++g) {
        scratch[g] = kernels.dot(d_o, of.v + at(g), dim);
        mean += weights[g] * scratch[g];
        kernels.axpy(weights[g], d_o, dim, d.v + at(g));
      }
      for (std::size_t g = 0; g < n; ++g) {
        const float d_product = shape.scale * (weights[g] * (scratch[g] - mean));
        kernels.axpy(d_product, of.k + at(g), dim, d.q + at(f));
        kernels.axpy(d_product, of.q + at(f), dim, d.k + at(g));
      }
    }
  }
}

}  // namespace leveret::block
