/// FFM rows of a batch, whose gradients are summed before a row takes its step: ffm_gradients and
/// ffm_step_row, generic in instruction set and k.
#pragma once

#include "kernels/ffm/coded_rows_body.h"
#include "kernels/ffm/pairs_choice_body.h"
#include "kernels/tables.h"

namespace leveret::kernels::generic {

// ---- gradients ----

/// Deltas of row i with rows j, …, j + count - 1, times unit, and 0 for itself and up to a
/// register's end: those with rows before it follow each other, the others lie in their rows.
template <class Isa>
[[gnu::always_inline]] inline void deltas_of_row(const float* delta, std::size_t i, std::size_t j,
                                                 std::size_t count, float unit, float* out) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  const float* const own = delta + i * (i + 1) / 2;
  if (j + N <= i) {
    (V::load_unaligned(own + j) * V(unit)).store_aligned(out);
    return;
  }
  std::size_t s = 0;
  for (; s < count && j + s < i; ++s) out[s] = own[j + s] * unit;
  if (s < count && j + s == i) out[s++] = 0.0f;
  const float* column = delta + (j + s) * (j + s + 1) / 2 + i;
  for (; s < count; ++s) {
    out[s] = *column * unit;
    column += j + s + 1;
  }
  for (; s < N; ++s) out[s] = 0.0f;
}

/// to[s][…] += d[s] * slots, a bundle of up to S slots of K floats; kAdjacent: they follow the
/// first.
template <class Isa, std::size_t K, bool kAdjacent, class T>
[[gnu::always_inline]] inline void add_bundle(const Scattered<Isa, K, const T>& slots,
                                              const float* d, float* const* to, std::size_t count) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  constexpr std::size_t S = kBundle<Isa, K>;
  for (std::size_t c = 0; c < K; c += N) {
    const V factor = Isa::template spread<K>(d);
    const auto add = [&](V sum) { return Isa::fma(factor, slots.load(c), sum); };
    if constexpr (kAdjacent || S == 1) {
      if (count >= S) {
        Whole<Isa>::store(to[0] + c, add(Whole<Isa>::load(to[0] + c)));
      } else {
        const Part<Isa> part{count * K};
        part.store(to[0], add(part.load(to[0])));
      }
    } else {
      const V sum = Isa::template load_slots<K>(const_cast<const float* const*>(to));
      Isa::template store_slots<K>(to, add(sum));
    }
  }
}

template <class Isa, std::size_t K, bool kAdjacent, class T>
[[gnu::flatten]] void ffm_gradients_fixed(Rows<const T> w, float unit, const float* delta,
                                          float* const* sums) {
  constexpr std::size_t N = kLanes<Isa>;
  constexpr std::size_t S = kBundle<Isa, K>;
  alignas(64) static constexpr T kSpare[K] = {};
  alignas(64) float spare[K] = {};
  alignas(64) float d[N];
  for (std::size_t i = 0; i < w.count; ++i) {
    float* const sum = sums[i];
    if (sum == nullptr) continue;
    for (std::size_t j = 0; j < w.count; j += N) {
      const std::size_t count = w.count - j < N ? w.count - j : N;
      deltas_of_row<Isa>(delta, i, j, count, unit, d);
      for (std::size_t s = 0; s < count; s += S) {
        const std::size_t left = count - s;
        float* to[S];
        for (std::size_t t = 0; t < S; ++t) {
          to[t] = t < left ? sum + w.fields[j + s + t] * K : spare;
        }
        if (left >= S) {
          add_bundle<Isa, K, kAdjacent, T>(Scattered<Isa, K, const T>::others(w, i, j + s), d + s,
                                           to, left);
        } else {
          add_bundle<Isa, K, kAdjacent, T>(
              Scattered<Isa, K, const T>::others(w, i, j + s, left, kSpare), d + s, to, left);
        }
      }
    }
  }
}

/// Any k: pair by pair.
template <class Isa, class T>
[[gnu::flatten]] void ffm_gradients_any(const Rows<const T>& w, float unit, std::size_t k,
                                        const float* delta, float* const* sums) {
  using V = typename Isa::V;
  const auto add = [&](std::size_t i, std::size_t j, float d) {
    if (sums[i] == nullptr) return;
    const T* const slot = w.slot(j, i, k);
    float* const to = sums[i] + w.fields[j] * k;
    sweep<Isa>(k, [&](std::size_t c, auto lanes) {
      lanes.store(to + c, Isa::fma(V(d * unit), lanes.load(slot + c), lanes.load(to + c)));
    });
  };
  for (std::size_t i = 0; i < w.count; ++i, ++delta) {
    for (std::size_t j = 0; j < i; ++j, ++delta) {
      add(i, j, *delta);
      add(j, i, *delta);
    }
  }
}

template <class Isa>
void ffm_gradients(Codec weights, const std::byte* const* rows, const std::uint32_t* fields,
                   std::size_t n, std::size_t k, const float* delta, float* const* sums) {
  if (n < 2) return;
  if (!in_registers(weights)) {
    return kReference.ffm_gradients(weights, rows, fields, n, k, delta, sums);
  }
  const float unit = weights.is_fixed(16) ? weights.unit() : 1.0f;
  with_weights(weights, [&]<class T>(T) {
    const Rows<const T> w = {rows, fields, n};
    const auto fixed = [&]<std::size_t K>() {
      if (adjacent(fields, n)) return ffm_gradients_fixed<Isa, K, true, T>(w, unit, delta, sums);
      ffm_gradients_fixed<Isa, K, false, T>(w, unit, delta, sums);
    };
    with_slot_length<2>(k, fixed, [&] { ffm_gradients_any<Isa, T>(w, unit, k, delta, sums); });
  });
}

// ---- step ----

/// Up to a register of slots, of which `count` are there: first their accumulators, then the
/// weights.
template <class Isa, std::size_t K, class T, class Step>
[[gnu::always_inline]] inline void step_slots(T* w, StateOf<T>* acc, const float* g,
                                              std::size_t count, float unit, const Step& step,
                                              IndexRounding<Isa, T>& rounded,
                                              IndexRounding<Isa, StateOf<T>>& rounded_acc) {
  using V = typename Isa::V;
  using S = Slots<Isa, K>;
  constexpr std::size_t N = kLanes<Isa>;
  alignas(64) float scale[N];
  const auto gradient = [&](std::size_t i, auto lanes) {
    const V x = lanes.load(g + i);
    if constexpr (!Step::kHasL2) return x;
    return step.gradient(x, V(unit) * lanes.load(w + i));
  };
  const auto each = [&](auto&& body) {
    if (count == N) {
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
    const V x = gradient(i, lanes);
    V& s = squares[i / (N * S::kFold)];
    s = Isa::fma(x, x, s);
  });
  const V means = Isa::template slot_sums<S::kEntries>(squares) * V(1.0f / K);
  V now;
  if (count == N) {
    now = Whole<Isa>::load(acc) + means;
    Whole<Isa>::store(acc, rounded_acc(now));
  } else {
    const Part<Isa> part{count};
    now = part.load(acc) + means;
    part.store(acc, rounded_acc(now));
  }
  (step.scale(now) * V(1.0f / unit)).store_aligned(scale);
  each([&](std::size_t i, auto lanes) {
    const V factor = Isa::template spread<K>(scale + i / K);
    lanes.store(w + i, rounded(Isa::fnma(factor, gradient(i, lanes), lanes.load(w + i))));
  });
}

template <class Isa, std::size_t K, class T, class Step>
[[gnu::flatten]] void ffm_step_row_fixed(T* w, StateOf<T>* acc, const float* g, std::size_t slots,
                                         float unit, Step step, const RowNoise& noise) {
  constexpr std::size_t N = kLanes<Isa>;
  IndexRounding<Isa, T> rounded({noise.seed, noise.numbers});
  IndexRounding<Isa, StateOf<T>> rounded_acc({state_noise(noise.seed), noise.slots});
  std::size_t j = 0;
  for (; j + N <= slots; j += N) {
    step_slots<Isa, K>(w + j * K, acc + j, g + j * K, N, unit, step, rounded, rounded_acc);
  }
  if (j < slots) {
    step_slots<Isa, K>(w + j * K, acc + j, g + j * K, slots - j, unit, step, rounded, rounded_acc);
  }
}

template <class Isa>
void ffm_step_row(Codec weights, Codec state, std::byte* row, std::byte* acc, const float* g,
                  std::size_t slots, std::size_t k, StepRule rule, const RowNoise& noise) {
  const auto by_reference = [&] {
    kReference.ffm_step_row(weights, state, row, acc, g, slots, k, rule, noise);
  };
  if (steps_by_floats(weights, state, k)) {
    return step_by_floats<Isa>(weights, state, row, acc, {g, nullptr, slots}, k, rule, noise);
  }
  if (!in_registers(weights, state)) return by_reference();
  const float unit = weights.is_fixed(16) ? weights.unit() : 1.0f;
  with_weights(weights, [&]<class T>(T) {
    const auto fixed = [&]<std::size_t K>() {
      with_step<Isa>(rule, [&](const auto& step) {
        ffm_step_row_fixed<Isa, K>(reinterpret_cast<T*>(row), reinterpret_cast<StateOf<T>*>(acc), g,
                                   slots, unit, step, noise);
      });
    };
    with_slot_length<2>(k, fixed, by_reference);
  });
}

}  // namespace leveret::kernels::generic
