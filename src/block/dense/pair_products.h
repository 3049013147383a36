/// Inner products of all pairs of n vectors of k numbers, one behind the other: that of vectors
/// f < g has index g (g - 1) / 2 + f, so that pairs of a vector that comes later come last.
#pragma once

#include <cstddef>

#include "kernels/kernels.h"

namespace leveret::block {

constexpr std::size_t pair_count(std::size_t n) { return n > 0 ? n * (n - 1) / 2 : 0; }

/// `out`: pair_count(n).
inline void pair_products(const kernels::Kernels& kernels, const float* x, std::size_t n,
                          std::size_t k, float* out) {
  for (std::size_t g = 0; g < n; ++g) {
    for (std::size_t f = 0; f < g; ++f) *out++ = kernels.dot(x + f * k, x + g * k, k);
  }
}

/// Adds to d_x, n * k, what d_out brings.
inline void pair_products_back(const kernels::Kernels& kernels, const float* x, std::size_t n,
                               std::size_t k, const float* d_out, float* d_x) {
  for (std::size_t g = 0; g < n; ++g) {
    for (std::size_t f = 0; f < g; ++f, ++d_out) {
      kernels.axpy(*d_out, x + g * k, k, d_x + f * k);
      kernels.axpy(*d_out, x + f * k, k, d_x + g * k);
    }
  }
}

}  // namespace leveret::block
