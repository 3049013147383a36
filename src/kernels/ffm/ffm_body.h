/// The FFM kernels, generic in the instruction set and in k.
///
/// With k = 1, 2, 4, 8 or 16 a register holds several slots, or a slot fills several registers, and
/// no lane is idle; `*_any` does every other k, one slot at a time.
#pragma once

#include <algorithm>

#include "kernels/lanes.h"

namespace leveret::kernels::generic {

/// How slots of K floats lie in registers: a group is one register's worth of slots (`kLanes` of
/// them), summed over `kEntries` registers of which each is folded from `kFold`.
template <class Isa, std::size_t K>
struct Slots {
  static constexpr std::size_t kEntries = K < kLanes<Isa> ? K : kLanes<Isa>;
  static constexpr std::size_t kFold = K / kEntries;
};

/// Lane i of the register that starts at float i0 of a row becomes delta[(i0 + i) / K]; the row
/// ends after n floats of it.
template <class Isa, std::size_t K>
inline typename Isa::V spread_part(const float* delta, std::size_t n) {
  // Copied first, because spread reads a register's worth of slots.
  alignas(64) float slots[kLanes<Isa>];
  Isa::load_part(delta, n / K).store_aligned(slots);
  return Isa::template spread<K>(slots);
}

/// Calls body(Whole or Part) for a register of slots of K floats of which `left` > 0 are to come.
template <class Isa, std::size_t K, class Body>
inline void with_lanes(std::size_t left, Body&& body) {
  if constexpr (K % kLanes<Isa> == 0) {
    body(Whole<Isa>{});
  } else {
    body(Part<Isa>{left < kLanes<Isa> ? left : kLanes<Isa>});
  }
}

// ---- update, one accumulator per weight ----

template <class Isa, std::size_t K, class Step>
[[gnu::flatten]] void ffm_update_fixed(float* w, float* acc, const float* t, const float* delta,
                                       std::size_t slots, const Step& step) {
  using V = typename Isa::V;
  sweep<Isa>(slots * K, [&](std::size_t i, auto lanes) {
    V d;
    if constexpr (std::is_same_v<decltype(lanes), Whole<Isa>>) {
      d = Isa::template spread<K>(delta + i / K);
    } else {
      d = spread_part<Isa, K>(delta + i / K, lanes.n);
    }
    V weight = lanes.load(w + i);
    V squares = lanes.load(acc + i);
    step.apply(d * lanes.load(t + i), weight, squares);
    lanes.store(w + i, weight);
    lanes.store(acc + i, squares);
  });
}

template <class Isa, class Step>
[[gnu::flatten]] void ffm_update_any(float* w, float* acc, const float* t, const float* delta,
                                     std::size_t slots, std::size_t k, const Step& step) {
  using V = typename Isa::V;
  for (std::size_t j = 0; j < slots; ++j) {
    const V d(delta[j]);
    sweep<Isa>(k, [&](std::size_t c, auto lanes) {
      const std::size_t i = j * k + c;
      V weight = lanes.load(w + i);
      V squares = lanes.load(acc + i);
      step.apply(d * lanes.load(t + i), weight, squares);
      lanes.store(w + i, weight);
      lanes.store(acc + i, squares);
    });
  }
}

template <class Isa>
void ffm_update(float* w, float* acc, const float* t, const float* delta, std::size_t slots,
                std::size_t k, StepRule rule) {
  with_step<Isa>(rule, [&](const auto& step) {
    with_slot_length<1>(
        k, [&]<std::size_t K>() { ffm_update_fixed<Isa, K>(w, acc, t, delta, slots, step); },
        [&] { ffm_update_any<Isa>(w, acc, t, delta, slots, k, step); });
  });
}

// ---- update, one accumulator per slot ----

/// One group of `count` <= lanes slots. First all accumulators of the group, in one register, then
/// the weights.
template <class Isa, std::size_t K, class Step>
inline void slice_group(float* w, float* acc, const float* t, const float* delta, std::size_t count,
                        const Step& step) {
  using V = typename Isa::V;
  using S = Slots<Isa, K>;
  constexpr std::size_t N = kLanes<Isa>;
  const bool whole = count == N;
  alignas(64) float d_lanes[N], scale[N];
  const V d = whole ? V::load_unaligned(delta) : Isa::load_part(delta, count);
  const V common = Step::kHasL2 ? V(1.0f) : d;  // without L2 all of a slot shares its delta
  d.store_aligned(d_lanes);

  const auto gradient = [&](std::size_t i, auto lanes) {
    const V x = lanes.load(t + i);
    if constexpr (!Step::kHasL2) return x;
    return step.gradient(Isa::template spread<K>(d_lanes + i / K) * x, lanes.load(w + i));
  };
  const auto each = [&](auto&& body) {
    if (whole) {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < N * K; i += N) body(i, Whole<Isa>{});
    } else {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < N * K; i += N) {
        if (i >= count * K) continue;
        with_lanes<Isa, K>(count * K - i, [&](auto lanes) { body(i, lanes); });
      }
    }
  };

  V squares[S::kEntries];
#pragma GCC unroll 16
  for (V& s : squares) s = V(0.0f);
  each([&](std::size_t i, auto lanes) {
    const V g = gradient(i, lanes);
    V& s = squares[i / (N * S::kFold)];
    s = Isa::fma(g, g, s);
  });
  const V sums = Isa::template slot_sums<S::kEntries>(squares) * common * common;
  const V old = whole ? V::load_unaligned(acc) : Isa::load_part(acc, count);
  const V now = Isa::fma(sums, V(1.0f / K), old);
  if (whole) {
    now.store_unaligned(acc);
  } else {
    Isa::store_part(acc, now, count);
  }
  (step.scale(now) * common).store_aligned(scale);
  each([&](std::size_t i, auto lanes) {
    const V factor = Isa::template spread<K>(scale + i / K);
    lanes.store(w + i, Isa::fnma(factor, gradient(i, lanes), lanes.load(w + i)));
  });
}

template <class Isa, std::size_t K, class Step>
[[gnu::flatten]] void ffm_update_slice_fixed(float* w, float* acc, const float* t,
                                             const float* delta, std::size_t slots,
                                             const Step& step) {
  constexpr std::size_t N = kLanes<Isa>;
  std::size_t j = 0;
  for (; j + N <= slots; j += N) {
    slice_group<Isa, K>(w + j * K, acc + j, t + j * K, delta + j, N, step);
  }
  if (j < slots) slice_group<Isa, K>(w + j * K, acc + j, t + j * K, delta + j, slots - j, step);
}

template <class Isa, class Step>
[[gnu::flatten]] void ffm_update_slice_any(float* w, float* acc, const float* t, const float* delta,
                                           std::size_t slots, std::size_t k, const Step& step) {
  using V = typename Isa::V;
  for (std::size_t j = 0; j < slots; ++j) {
    const V d(delta[j]);
    const auto gradient = [&](std::size_t i, auto lanes) {
      return step.gradient(d * lanes.load(t + i), lanes.load(w + i));
    };
    V squares(0.0f);
    sweep<Isa>(k, [&](std::size_t c, auto lanes) {
      const V g = gradient(j * k + c, lanes);
      squares = Isa::fma(g, g, squares);
    });
    acc[j] += Isa::sum(squares) / static_cast<float>(k);
    const V scale = step.scale(V(acc[j]));
    sweep<Isa>(k, [&](std::size_t c, auto lanes) {
      const std::size_t i = j * k + c;
      lanes.store(w + i, Isa::fnma(scale, gradient(i, lanes), lanes.load(w + i)));
    });
  }
}

template <class Isa>
void ffm_update_slice(float* w, float* acc, const float* t, const float* delta, std::size_t slots,
                      std::size_t k, StepRule rule) {
  with_step<Isa>(rule, [&](const auto& step) {
    with_slot_length<1>(
        k, [&]<std::size_t K>() { ffm_update_slice_fixed<Isa, K>(w, acc, t, delta, slots, step); },
        [&] { ffm_update_slice_any<Isa>(w, acc, t, delta, slots, k, step); });
  });
}

}  // namespace leveret::kernels::generic
