/// ffm_update_pairs: rows in place, one accumulator per slot, generic in instruction set and k.
///
/// A block is as many pairs as a register has lanes: their accumulators fill one register, and one
/// root serves all of them.
#pragma once

#include "kernels/ffm/pairs_body.h"

namespace leveret::kernels::generic {

/// How the accumulator of a slot of weights of type T is stored.
template <class T>
using StateOf = std::conditional_t<std::is_same_v<T, Fixed16>, Bf16, float>;

// The bits of an accumulator; of a short one they are the upper ones of a lane.
inline std::uint32_t bits_of(float acc) { return __builtin_bit_cast(std::uint32_t, acc); }
inline std::uint32_t bits_of(Bf16 acc) { return acc.bits; }
inline void set_bits(float& acc, std::uint32_t bits) { acc = __builtin_bit_cast(float, bits); }
inline void set_bits(Bf16& acc, std::uint32_t bits) { acc.bits = static_cast<std::uint16_t>(bits); }
template <class A>
inline constexpr int kBitsBelow = std::is_same_v<A, Bf16> ? kBf16BitsLost : 0;

/// The accumulators at(0), …, at(count - 1) in a register. Lanes beyond, which gain nothing, repeat
/// the first, so that the number of accesses is fixed and none goes by way of memory.
template <class Isa, class A, class At>
inline typename Isa::V load_accs(std::size_t count, At&& at) {
  const auto bits = [&](std::size_t s) { return bits_of(at(s < count ? s : 0)); };
  const auto lanes = [&]<std::size_t... S>(std::index_sequence<S...>) {
    return Lanes32<Isa>{bits(S)...};
  }
  (std::make_index_sequence<kLanes<Isa>>());
  return bits_cast<typename Isa::V>(lanes << kBitsBelow<A>);
}
/// The first one last, as it may have gained something.
template <class Isa, class A, class At>
inline void store_accs(std::size_t count, typename Isa::V v, At&& at) {
  alignas(64) std::uint32_t lanes[kLanes<Isa>];
  (bits_cast<Lanes32<Isa>>(v) >> kBitsBelow<A>).store_aligned(lanes);
  for (std::size_t s = kLanes<Isa>; s-- > 0;) set_bits(at(s < count ? s : 0), lanes[s]);
}

inline float to_float(float acc) { return acc; }

/// Accumulators on their way to a store; those of 16 bits get a noise that all of a call share.
template <class Isa, class A>
struct StateRounding {
  using V = typename Isa::V;
  explicit StateRounding(std::uint32_t) {}
  V operator()(V v) const { return v; }
  void store(float& to, float acc) { to = acc; }
};

template <class Isa>
struct StateRounding<Isa, Bf16> {
  using V = typename Isa::V;
  Lanes32<Isa> noise;
  std::uint32_t seed;

  explicit StateRounding(std::uint32_t call_seed)
      : noise((LaneNoise<Isa>(call_seed).lanes * Lanes32<Isa>(0x27d4eb2fu)) >> kBf16BitsLost),
        seed(call_seed) {}
  V operator()(V v) const { return bits_cast<V>(bits_cast<Lanes32<Isa>>(v) + noise); }
  /// One of them, with a noise of its own.
  void store(Bf16& to, float acc) { to = round_to_bf16(acc, seed += 0x9e3779b9u); }
};

/// The accumulators of rows j, j+1, … for row i's field: one number in each row.
template <class Isa, class A>
struct ColumnAccs {
  using V = typename Isa::V;
  const Accs<A>& acc;
  std::size_t i, j, count;

  /// Adds `squares` / k to them and returns what they are then, before they are rounded.
  V add(V squares, std::size_t k, const StateRounding<Isa, A>& rounded) const {
    std::byte* const* rows = acc.rows + j;
    const std::size_t column = acc.fields[i];
    const auto at = [&](std::size_t s) -> A& { return reinterpret_cast<A*>(rows[s])[column]; };
    const V mean(1.0f / static_cast<float>(k));
    const V now = Isa::fma(squares, mean, load_accs<Isa, A>(count, at));
    store_accs<Isa, A>(count, rounded(now), at);
    return now;
  }
};

/// Row i's accumulators for the fields of rows j, j+1, …
template <class Isa, class A>
struct RowAccs {
  using V = typename Isa::V;
  const Accs<A>& acc;
  std::size_t i, j, count;

  V add(V squares, std::size_t k, const StateRounding<Isa, A>& rounded) const {
    A* const row = acc.row(i);
    const std::uint32_t* fields = acc.fields + j;
    const V mean = squares * V(1.0f / static_cast<float>(k));
    if (count == kLanes<Isa> && adjacent(fields, count)) {
      const V now = mean + Whole<Isa>::load(row + fields[0]);
      Whole<Isa>::store(row + fields[0], rounded(now));
      return now;
    }
    const auto at = [&](std::size_t s) -> A& { return row[fields[s]]; };
    const V now = mean + load_accs<Isa, A>(count, at);
    store_accs<Isa, A>(count, rounded(now), at);
    return now;
  }
};

/// Calls body(e, own, others) for each bundle e of the block of pairs (i, j), …, (i, j + count -
/// 1).
template <class Isa, std::size_t K, class T, class OwnSlots, class Body>
inline void for_each_bundle(const Rows<T>& w, std::size_t i, std::size_t j, std::size_t count,
                            T* spare, const OwnSlots& own_slots, Body&& body) {
  using Slots = Scattered<Isa, K, T>;
  constexpr std::size_t S = kBundle<Isa, K>;
  if (count == kLanes<Isa>) {
#pragma GCC unroll 16
    for (std::size_t e = 0; e < kLanes<Isa> / S; ++e) {
      body(e, own_slots(w, i, j + e * S), Slots::others(w, i, j + e * S));
    }
    return;
  }
#pragma GCC unroll 16
  for (std::size_t e = 0; e < kLanes<Isa> / S; ++e) {
    const std::size_t at = j + e * S;
    const std::size_t rest = count - e * S;
    if ((e + 1) * S <= count) {
      body(e, own_slots(w, i, at), Slots::others(w, i, at));
    } else if (e * S < count) {
      body(e, Slots::own(w, i, at, rest, spare), Slots::others(w, i, at, rest, spare));
    }
  }
}

template <class Isa, std::size_t K, class T, class Step, class OwnSlots>
inline void update_block(const Rows<T>& w, const Units<Isa, T>& units, const Accs<StateOf<T>>& acc,
                         std::size_t i, std::size_t j, std::size_t count, const float* delta,
                         const Step& step, Rounding<Isa, T>& rounded,
                         const StateRounding<Isa, StateOf<T>>& rounded_acc,
                         const OwnSlots& own_slots) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  constexpr std::size_t S = kBundle<Isa, K>;
  constexpr std::size_t kEntries = N / S;
  const V d = count == N ? V::load_unaligned(delta) : Isa::load_part(delta, count);
  alignas(64) T spare[K] = {};
  alignas(64) float d_lanes[N], own_scale[N], other_scale[N];
  d.store_aligned(d_lanes);

  V own_squares[kEntries], other_squares[kEntries];
#pragma GCC unroll 16
  for (std::size_t e = 0; e < kEntries; ++e) own_squares[e] = other_squares[e] = V(0.0f);
  const auto add_squares = [&](std::size_t e, const auto& own, const auto& others) {
    for (std::size_t c = 0; c < K; c += N) {
      const V a = own.load(c);
      const V b = others.load(c);
      V g_a = b;  // times delta, which all of a slot shares
      V g_b = a;
      if constexpr (Step::kHasL2) {
        const V d_spread = Isa::template spread<K>(d_lanes + e * S);
        g_a = units.numbers(step.gradient(d_spread * b, a));
        g_b = units.numbers(step.gradient(d_spread * a, b));
      }
      own_squares[e] = Isa::fma(g_a, g_a, own_squares[e]);
      other_squares[e] = Isa::fma(g_b, g_b, other_squares[e]);
    }
  };
  for_each_bundle<Isa, K>(w, i, j, count, spare, own_slots, add_squares);

  const V common = Step::kHasL2 ? V(1.0f) : d;
  const auto sums = [&](const V* squares) {
    const V codes = Isa::template slot_sums<kEntries>(squares);
    if constexpr (Step::kHasL2) return codes;
    return units.products(codes) * d * d;
  };
  const V own_sums = sums(own_squares), other_sums = sums(other_squares);
  const RowAccs<Isa, StateOf<T>> own_acc{acc, i, j, count};
  const ColumnAccs<Isa, StateOf<T>> other_acc{acc, i, j, count};
  (step.scale(own_acc.add(own_sums, K, rounded_acc)) * common).store_aligned(own_scale);
  (step.scale(other_acc.add(other_sums, K, rounded_acc)) * common).store_aligned(other_scale);

  const auto move = [&](std::size_t e, const auto& own, const auto& others) {
    const V own_factor = Isa::template spread<K>(own_scale + e * S);
    const V other_factor = Isa::template spread<K>(other_scale + e * S);
    for (std::size_t c = 0; c < K; c += N) {
      const V a = own.load(c);
      const V b = others.load(c);
      V g_a = b;
      V g_b = a;
      if constexpr (Step::kHasL2) {
        const V d_spread = Isa::template spread<K>(d_lanes + e * S);
        g_a = step.gradient(d_spread * b, a);
        g_b = step.gradient(d_spread * a, b);
      }
      own.store(c, rounded(Isa::fnma(own_factor, g_a, a)));
      others.store(c, rounded(Isa::fnma(other_factor, g_b, b)));
    }
  };
  for_each_bundle<Isa, K>(w, i, j, count, spare, own_slots, move);
}

template <class Isa, std::size_t K, class T, class Step, class OwnSlots>
[[gnu::flatten]] void ffm_update_pairs_fixed(Rows<T> w, Units<Isa, T> units, Accs<StateOf<T>> acc,
                                             std::size_t n, const float* delta, Step step,
                                             std::uint32_t noise, OwnSlots own_slots) {
  constexpr std::size_t N = kLanes<Isa>;
  Rounding<Isa, T> rounded(noise);
  const StateRounding<Isa, StateOf<T>> rounded_acc(noise);
  // Last row first: what ffm_pairs has read last is what the first-level cache still holds.
  delta += n * (n + 1) / 2;
  for (std::size_t i = n; i-- > 1;) {
    delta -= i + 1;
    std::size_t j = 0;
    for (; j + N <= i; j += N) {
      update_block<Isa, K>(w, units, acc, i, j, N, delta + j, step, rounded, rounded_acc,
                           own_slots);
    }
    if (j < i) {
      update_block<Isa, K>(w, units, acc, i, j, i - j, delta + j, step, rounded, rounded_acc,
                           own_slots);
    }
  }
}

/// Any k: pair by pair.
template <class Isa, class T, class Step>
[[gnu::flatten]] void ffm_update_pairs_any(const Rows<T>& w, const Units<Isa, T>& units,
                                           const Accs<StateOf<T>>& acc, std::size_t n,
                                           std::size_t k, const float* delta, const Step& step,
                                           std::uint32_t noise) {
  using V = typename Isa::V;
  Rounding<Isa, T> rounded(noise);
  StateRounding<Isa, StateOf<T>> rounded_acc(noise);
  for (std::size_t i = 0; i < n; ++i, ++delta) {
    for (std::size_t j = 0; j < i; ++j) {
      const V d(*delta++);
      T* const own = w.slot(i, j, k);
      T* const other = w.slot(j, i, k);
      V own_squares(0.0f), other_squares(0.0f);
      sweep<Isa>(k, [&](std::size_t c, auto lanes) {
        const V a = lanes.load(own + c);
        const V b = lanes.load(other + c);
        const V g_a = units.numbers(step.gradient(d * b, a));
        const V g_b = units.numbers(step.gradient(d * a, b));
        own_squares = Isa::fma(g_a, g_a, own_squares);
        other_squares = Isa::fma(g_b, g_b, other_squares);
      });
      auto& own_at = *acc.slot(i, j);
      auto& other_at = *acc.slot(j, i);
      const float own_acc = to_float(own_at) + Isa::sum(own_squares) / static_cast<float>(k);
      const float other_acc = to_float(other_at) + Isa::sum(other_squares) / static_cast<float>(k);
      rounded_acc.store(own_at, own_acc);
      rounded_acc.store(other_at, other_acc);
      const V own_scale = step.scale(V(own_acc));
      const V other_scale = step.scale(V(other_acc));
      sweep<Isa>(k, [&](std::size_t c, auto lanes) {
        const V a = lanes.load(own + c);
        const V b = lanes.load(other + c);
        lanes.store(own + c, rounded(Isa::fnma(own_scale, step.gradient(d * b, a), a)));
        lanes.store(other + c, rounded(Isa::fnma(other_scale, step.gradient(d * a, b), b)));
      });
    }
  }
}

}  // namespace leveret::kernels::generic
