/// Products of small matrices and softmax, generic in the instruction set.
#pragma once

#include <algorithm>

#include "kernels/dense/vector_body.h"
#include "kernels/lanes.h"

namespace leveret::kernels::generic {

/// Rows i … i + Rows of one register's worth of columns, from column j on. Each row's sum waits for
/// itself: several rows hide that.
template <class Isa, std::size_t Rows, class Lanes>
[[gnu::always_inline]] inline void multiply_rows(const SmallProduct& of, std::size_t i,
                                                 std::size_t j, Lanes lanes, const float* a,
                                                 const float* b, float* out) {
  using V = typename Isa::V;
  V sums[Rows];
  for (V& sum : sums) sum = V(0.0f);
  const float* from = a + i * of.a_row;
  for (std::size_t c = 0; c < of.inner; ++c, from += of.a_column) {
    const V row = lanes.load(b + c * of.b_row + j);
#pragma GCC unroll 8
    for (std::size_t u = 0; u < Rows; ++u) sums[u] = Isa::fma(V(from[u * of.a_row]), row, sums[u]);
  }
#pragma GCC unroll 8
  for (std::size_t u = 0; u < Rows; ++u) {
    float* const to = out + (i + u) * of.out_row + j;
    lanes.store(to, lanes.load(to) + sums[u]);
  }
}

template <class Isa>
[[gnu::flatten]] void multiply_add(const SmallProduct& of, const float* a, const float* b,
                                   float* out) {
  constexpr std::size_t kRows = 8;
  sweep<Isa>(of.columns, [&](std::size_t j, auto lanes) {
    std::size_t i = 0;
    for (; i + kRows <= of.rows; i += kRows) {
      multiply_rows<Isa, kRows>(of, i, j, lanes, a, b, out);
    }
    for (; i + 2 <= of.rows; i += 2) multiply_rows<Isa, 2>(of, i, j, lanes, a, b, out);
    for (; i < of.rows; ++i) multiply_rows<Isa, 1>(of, i, j, lanes, a, b, out);
  });
}

/// The largest of `length` >= 1 numbers.
template <class Isa>
[[gnu::always_inline]] inline float most_of(const float* x, std::size_t length) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  if (length < N) return *std::max_element(x, x + length);
  V most = Whole<Isa>::load(x + length - N);
  for (std::size_t i = 0; i + N <= length; i += N) most = xsimd::max(most, Whole<Isa>::load(x + i));
  alignas(64) float lanes[N];
  most.store_aligned(lanes);
  return *std::max_element(lanes, lanes + N);
}

template <class Isa>
[[gnu::flatten]] void softmax(std::size_t rows, std::size_t columns, float factor, float* x) {
  using V = typename Isa::V;
  for (std::size_t r = 0; r < rows; ++r, x += columns) {
    const float most = columns > 0 ? most_of<Isa>(x, columns) : 0.0f;
    sweep<Isa>(columns, [&](std::size_t i, auto lanes) {
      lanes.store(x + i, Isa::exp((lanes.load(x + i) - V(most)) * V(factor)));
    });
    scale<Isa>(x, columns, 1.0f / total<Isa>(x, columns), x);
  }
}

template <class Isa>
[[gnu::flatten]] void softmax_back(const float* y, std::size_t rows, std::size_t columns,
                                   float factor, float* d) {
  using V = typename Isa::V;
  for (std::size_t r = 0; r < rows; ++r, y += columns, d += columns) {
    const V mean(dot<Isa>(y, d, columns)), times(factor);
    sweep<Isa>(columns, [&](std::size_t i, auto lanes) {
      lanes.store(d + i, times * (lanes.load(y + i) * (lanes.load(d + i) - mean)));
    });
  }
}

}  // namespace leveret::kernels::generic
