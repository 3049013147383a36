/// The linear stage's step: weights that lie anywhere, each with its sum of squares behind it, or
/// cells of four numbers.
///
/// Instruction sets that find equal pointers at once (Gathers) load and store weights and sums
/// together. With arrays between them, as the others have it, vectors would be loaded from what was
/// stored number by number just before, which takes a processor as long as all of the arithmetic.
#pragma once

#include "kernels/dense/vector_body.h"

namespace leveret::kernels::generic {

/// AdaGrad's steps with gradients scale * x; see Kernels::adagrad_gather_scatter.
template <class Isa>
struct GatherScatter {
  using V = typename Isa::V;
  static constexpr std::size_t N = kLanes<Isa>;
  static constexpr std::size_t kFloats = 2;  ///< at a place
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
    g = bounded<Isa>(g);
    sums = sums + g * g;
    const V total = V(init) + sums;
    const V step = Isa::divide(V(rate) * g, Isa::root(total));
    Isa::scatter_pairs(weight_ptrs, weights - xsimd::select(total > V(0.0f), step, V(0.0f)), sums);
  }
};

/// See Kernels::step_cells.
template <class Isa>
struct StepCells {
  using V = typename Isa::V;
  static constexpr std::size_t N = kLanes<Isa>;
  static constexpr std::size_t kFloats = 4;
  CellSteps of;

  V scale(V sum) const {
    return xsimd::select(sum > V(0.0f), Isa::divide(V(of.rate), Isa::root(sum)), V(0.0f));
  }

  void in_order(float* const* cells, const float* x, std::size_t length) const {
    constexpr std::size_t kAtATime = 64;
    float sums[kAtATime], step[kAtATime], step2[kAtATime], fast[kAtATime];
    for (std::size_t begin = 0; begin < length; begin += kAtATime) {
      const std::size_t left = length - begin, n = left < kAtATime ? left : kAtATime;
      float* const* const at = cells + begin;
      squares<Isa>(x + begin, of.d2, n, step2, sums);
      for (std::size_t i = 0; i < n; ++i) sums[i] = of.init + (at[i][1] += sums[i]);
      sweep<Isa>(n, [&](std::size_t i, auto lanes) {
        const V rate = scale(lanes.load(sums + i)), value = lanes.load(x + begin + i);
        lanes.store(step + i, rate * bounded<Isa>(V(of.d) * value));
        lanes.store(step2 + i, rate * lanes.load(step2 + i));
        lanes.store(fast + i, V(of.fast) * value);
      });
      for (std::size_t i = 0; i < n; ++i) {
        at[i][0] -= step[i];
        at[i][2] -= step2[i];
        at[i][3] -= fast[i];
      }
    }
  }

  void side_by_side(float* const* cells, V x) const {
    V cell[kFloats];
    Isa::gather_cells(cells, cell);
    const V g2 = bounded<Isa>(V(of.d2) * x);
    cell[1] = cell[1] + g2 * g2;
    const V rate = scale(V(of.init) + cell[1]);
    cell[0] = cell[0] - rate * bounded<Isa>(V(of.d) * x);
    cell[2] = cell[2] - rate * g2;
    cell[3] = cell[3] - V(of.fast) * x;
    Isa::scatter_cells(cells, cell);
  }
};

/// All places, as many at a time as a register has lanes where these are sure to differ.
template <class Isa, class Steps>
inline void step_places(const Steps& steps, float* const* at, const float* x, std::size_t length) {
  if constexpr (!Isa::kGathers) {
    steps.in_order(at, x, length);
  } else {
    constexpr std::size_t N = kLanes<Isa>;
    std::size_t i = 0;
    for (; i + N <= length; i += N) {
      if (Isa::differ(at + i, N)) {
        steps.side_by_side(at + i, Isa::V::load_unaligned(x + i));
      } else {
        steps.in_order(at + i, x + i, N);
      }
    }
    if (i == length) return;
    // Those that are left, and some to fill the register.
    const std::size_t n = length - i;
    float spare[Steps::kFloats * N] = {};
    float* rest[N];
    for (std::size_t l = 0; l < N; ++l) rest[l] = l < n ? at[i + l] : spare + Steps::kFloats * l;
    if (Isa::differ(rest, n)) {
      steps.side_by_side(rest, Isa::load_part(x + i, n));
    } else {
      steps.in_order(at + i, x + i, n);
    }
  }
}

template <class Isa>
[[gnu::flatten]] void adagrad_gather_scatter(float* const* weight_ptrs, const float* x, float scale,
                                             std::size_t length, float init, float rate) {
  step_places<Isa>(GatherScatter<Isa>{scale, init, rate}, weight_ptrs, x, length);
}

template <class Isa>
[[gnu::flatten]] void step_cells(float* const* cells, const float* x, std::size_t length,
                                 CellSteps steps) {
  step_places<Isa>(StepCells<Isa>{steps}, cells, x, length);
}

}  // namespace leveret::kernels::generic
