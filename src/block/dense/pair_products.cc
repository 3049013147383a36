#include "block/dense/pair_products.h"

#include <algorithm>

#include "block/dense/transpose.h"

namespace leveret::block {

/// All n * n products: each of these costs less than a row of its own.
void pair_products(const kernels::Kernels& kernels, const float* x, std::size_t n, std::size_t k,
                   float* out, float* scratch) {
  float *const square = scratch, *const columns = scratch + n * n;
  transpose(1, x, n, k, columns);
  std::fill_n(square, n * n, 0.0f);
  kernels.multiply_add({n, k, n, k, 1, n, n}, x, columns, square);
  for (std::size_t g = 1; g < n; ++g) out = std::copy_n(square + g * n, g, out);
}

void pair_products_back(const kernels::Kernels& kernels, const float* x, std::size_t n,
                        std::size_t k, const float* d_out, float* d_x, float* scratch) {
  for (std::size_t g = 0; g < n; ++g) {
    for (std::size_t f = 0; f < g; ++f) scratch[g * n + f] = scratch[f * n + g] = *d_out++;
    scratch[g * n + g] = 0;
  }
  kernels.multiply_add({n, n, k, n, 1, k, k}, scratch, x, d_x);
}

}  // namespace leveret::block
