/// The linear stage's step: weights that lie anywhere, each with its sum of squares behind it.
///
/// Instruction sets that find equal pointers at once (kGathers) have
///   differ(p, n)               whether the first n of p[0 .. lanes) are sure to differ
///   gather_pairs(p, a, b)      lane l becomes p[l][0] and p[l][1]
///   scatter_pairs(p, a, b)     the reverse
/// and load and store weights and sums together. With arrays between them, as the others have it,
/// vectors would be loaded from what was stored number by number just before, which takes a
/// processor as long as all of the arithmetic.
#pragma once

#include "kernels/vector_body.h"

namespace leveret::kernels::generic {

/// AdaGrad's steps with gradients scale * x; see Kernels::adagrad_gather_scatter.
template <class Isa>
struct GatherScatter {
  using V = typename Isa::V;
  static constexpr std::size_t N = kLanes<Isa>;
  float scale, init, rate;

  /// Any pointers: sums one after the other, steps side by side.
  void in_order(float* const* weight_ptrs, const float* x, std::size_t length) const {
    constexpr std::size_t kAtATime = 64;
    float g[kAtATime], sums[kAtATime];
    for (std::size_t begin = 0; begin < length; begin += kAtATime) {
      const std::size_t left = length - begin, n = left < kAtATime ? left : kAtATime;
      float* const* const at = weight_ptrs + begin;
      squares<Isa>(x + begin, scale, n, g, sums);
      for (std::size_t i = 0; i < n; ++i) sums[i] = init + (at[i][1] += sums[i]);
      adagrad_deltas<Isa>(g, sums, n, rate, g);
      for (std::size_t i = 0; i < n; ++i) at[i][0] -= g[i];
    }
  }

  /// N pointers, none of which is there twice.
  void side_by_side(float* const* weight_ptrs, V x) const {
    V weights, sums;
    Isa::gather_pairs(weight_ptrs, weights, sums);
    V g = V(scale) * x;
    g = xsimd::select(g * g <= V(std::numeric_limits<float>::max()), g, V(0.0f));
    sums = sums + g * g;
    const V total = V(init) + sums;
    const V step = Isa::divide(V(rate) * g, Isa::root(total));
    Isa::scatter_pairs(weight_ptrs, weights - xsimd::select(total > V(0.0f), step, V(0.0f)), sums);
  }
};

template <class Isa>
[[gnu::flatten]] void adagrad_gather_scatter(float* const* weight_ptrs, const float* x, float scale,
                                             std::size_t length, float init, float rate) {
  const GatherScatter<Isa> steps{scale, init, rate};
  if constexpr (!Isa::kGathers) {
    steps.in_order(weight_ptrs, x, length);
  } else {
    constexpr std::size_t N = kLanes<Isa>;
    std::size_t i = 0;
    for (; i + N <= length; i += N) {
      if (Isa::differ(weight_ptrs + i, N)) {
        steps.side_by_side(weight_ptrs + i, Isa::V::load_unaligned(x + i));
      } else {
        steps.in_order(weight_ptrs + i, x + i, N);
      }
    }
    if (i == length) return;
    // Those that are left, and some to fill the register.
    const std::size_t n = length - i;
    float spare[2 * N] = {};
    float* rest[N];
    for (std::size_t l = 0; l < N; ++l) rest[l] = l < n ? weight_ptrs[i + l] : spare + 2 * l;
    if (Isa::differ(rest, n)) {
      steps.side_by_side(rest, Isa::load_part(x + i, n));
    } else {
      steps.in_order(weight_ptrs + i, x + i, n);
    }
  }
}

}  // namespace leveret::kernels::generic
