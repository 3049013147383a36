#include "block/dense/softmax_attention.h"

#include <algorithm>

namespace leveret::block {
namespace {

/// The numbers of one head as columns: D rows of n.
void take_columns(const AttentionShape& shape, const float* x, float* columns) {
  for (std::size_t f = 0; f < shape.tokens; ++f, x += shape.stride) {
    for (std::size_t c = 0; c < shape.dim; ++c) columns[c * shape.tokens + f] = x[c];
  }
}

}  // namespace

void attend(const kernels::Kernels& kernels, const AttentionShape& shape,
            QueryKeyValue<const float> of, float* weights, float* out, float* scratch) {
  const std::size_t n = shape.tokens, dim = shape.dim, stride = shape.stride;
  for (std::size_t h = 0; h < shape.heads; ++h, weights += n * n) {
    take_columns(shape, of.k + h * dim, scratch);
    std::fill_n(weights, n * n, 0.0f);
    kernels.multiply_add({n, dim, n, stride, 1, n, n}, of.q + h * dim, scratch, weights);
    kernels.softmax(n, n, shape.scale, weights);
    kernels.multiply_add({n, n, dim, n, 1, stride, shape.made()}, weights, of.v + h * dim,
                         out + h * dim);
  }
}

void attend_back(const kernels::Kernels& kernels, const AttentionShape& shape,
                 QueryKeyValue<const float> of, const float* weights, const float* d_out,
                 QueryKeyValue<float> d, float* scratch) {
  const std::size_t n = shape.tokens, dim = shape.dim, stride = shape.stride, made = shape.made();
  float *const d_a = scratch, *const columns = scratch + n * n;
  for (std::size_t h = 0; h < shape.heads; ++h, weights += n * n) {
    const float* const d_o = d_out + h * dim;
    kernels.multiply_add({n, n, dim, 1, n, made, stride}, weights, d_o, d.v + h * dim);
    take_columns(shape, of.v + h * dim, columns);
    std::fill_n(d_a, n * n, 0.0f);
    kernels.multiply_add({n, dim, n, made, 1, n, n}, d_o, columns, d_a);
    kernels.softmax_back(weights, n, n, shape.scale, d_a);
    kernels.multiply_add({n, n, dim, n, 1, stride, stride}, d_a, of.k + h * dim, d.q + h * dim);
    kernels.multiply_add({n, n, dim, 1, n, stride, stride}, d_a, of.q + h * dim, d.k + h * dim);
  }
}

}  // namespace leveret::block
