/// Inner products of all pairs of n vectors of k numbers, one behind the other: that of vectors
/// f < g has index g (g - 1) / 2 + f, so that pairs of a vector that comes later come last.
#pragma once

#include <cstddef>

#include "kernels/kernels.h"

namespace leveret::block {

constexpr std::size_t pair_count(std::size_t n) { return n > 0 ? n * (n - 1) / 2 : 0; }
/// Floats of working memory.
constexpr std::size_t pair_scratch(std::size_t n, std::size_t k) { return n * (n + k); }

/// `out`: pair_count(n).
void pair_products(const kernels::Kernels& kernels, const float* x, std::size_t n, std::size_t k,
                   float* out, float* scratch);

/// Adds to d_x, n * k, what d_out brings.
void pair_products_back(const kernels::Kernels& kernels, const float* x, std::size_t n,
                        std::size_t k, const float* d_out, float* d_x, float* scratch);

}  // namespace leveret::block
