/// FFM over fields of one feature each, straight on the rows, generic in instruction set and k.
///
/// Row i meets the rows before it in bundles of S fields, S slots being one register. Row i's own
/// slots for those fields lie side by side where no field is missing; the others' slots for row i's
/// field lie one in each row. Addresses are taken once, before anything is stored: the compiler
/// cannot know that a store leaves the tables of rows alone. For the same reason the kernels take
/// the small structs by value.
#pragma once

#include "kernels/ffm_body.h"

namespace leveret::kernels::generic {

/// The rows of one example.
template <class Float>
struct Rows {
  Float* const* rows;
  const std::uint32_t* fields;

  /// Row i's slot of k floats for the field of row j.
  Float* slot(std::size_t i, std::size_t j, std::size_t k) const { return rows[i] + fields[j] * k; }
};

template <class Isa, std::size_t K>
constexpr std::size_t kBundle = K < kLanes<Isa> ? kLanes<Isa> / K : 1;

/// A bundle's slots in one row, for fields that follow each other.
template <class Isa, std::size_t K, class Float>
struct Adjacent {
  Float* at;

  Adjacent(const Rows<Float>& r, std::size_t i, std::size_t j) : at(r.slot(i, j, K)) {}
  typename Isa::V load(std::size_t c) const { return Isa::V::load_unaligned(at + c); }
  void store(std::size_t c, typename Isa::V v) const { v.store_unaligned(at + c); }
};

/// A bundle's slots anywhere; beyond `count` stands `spare`, a slot for nothing.
template <class Isa, std::size_t K, class Float>
struct Scattered {
  static constexpr std::size_t S = kBundle<Isa, K>;
  Float* at[S];

  /// Row i's slots for the fields of rows j, j+1, …
  static Scattered own(const Rows<Float>& r, std::size_t i, std::size_t j, std::size_t count = S,
                       Float* spare = nullptr) {
    Scattered x;
    for (std::size_t s = 0; s < S; ++s) x.at[s] = s < count ? r.slot(i, j + s, K) : spare;
    return x;
  }
  /// The slots of rows j, j+1, … for row i's field.
  static Scattered others(const Rows<Float>& r, std::size_t i, std::size_t j, std::size_t count = S,
                          Float* spare = nullptr) {
    Scattered x;
    for (std::size_t s = 0; s < S; ++s) x.at[s] = s < count ? r.slot(j + s, i, K) : spare;
    return x;
  }
  typename Isa::V load(std::size_t c) const {
    if constexpr (S > 1) return Isa::template load_slots<K>(at);
    return Isa::V::load_unaligned(at[0] + c);
  }
  void store(std::size_t c, typename Isa::V v) const {
    if constexpr (S > 1) {
      Isa::template store_slots<K>(at, v);
    } else {
      v.store_unaligned(at[0] + c);
    }
  }
};

/// Calls body(own) with row i's slots as they lie: own(rows, i, j) makes a bundle of them. Without
/// `kMayBeAdjacent` they are always taken one by one, which saves code where speed lies elsewhere.
template <class Isa, std::size_t K, class Float, bool kMayBeAdjacent, class Body>
inline void with_own_slots(const std::uint32_t* fields, std::size_t n, Body&& body) {
  if constexpr (kMayBeAdjacent) {
    if (fields[n - 1] - fields[0] == n - 1) {
      return body([](const Rows<Float>& r, std::size_t i, std::size_t j) {
        return Adjacent<Isa, K, Float>(r, i, j);
      });
    }
  }
  body([](const Rows<Float>& r, std::size_t i, std::size_t j) {
    return Scattered<Isa, K, Float>::own(r, i, j);
  });
}

/// Calls fixed<k>() for the slot lengths that have code of their own, any() for the others.
template <class Fixed, class Any>
inline void with_slot_length(std::size_t k, Fixed&& fixed, Any&& any) {
  switch (k) {
    case 2:
      return fixed.template operator()<2>();
    case 4:
      return fixed.template operator()<4>();
    case 8:
      return fixed.template operator()<8>();
    case 16:
      return fixed.template operator()<16>();
    default:
      return any();
  }
}

// ---- forward ----

/// The products of a bundle of pairs, folded into one register.
template <class Isa, std::size_t K, class Own, class Others>
inline typename Isa::V products(const Own& own, const Others& others) {
  typename Isa::V sum = own.load(0) * others.load(0);
  for (std::size_t c = kLanes<Isa>; c < K; c += kLanes<Isa>) {
    sum = Isa::fma(own.load(c), others.load(c), sum);
  }
  return sum;
}

template <class Isa, std::size_t K, class OwnSlots>
[[gnu::flatten]] void ffm_pairs_fixed(Rows<const float> r, std::size_t n, float* pairs,
                                      OwnSlots own_slots) {
  using V = typename Isa::V;
  using Slots = Scattered<Isa, K, const float>;
  constexpr std::size_t N = kLanes<Isa>;
  constexpr std::size_t S = kBundle<Isa, K>;
  constexpr std::size_t kEntries = N / S;
  alignas(64) static constexpr float kSpare[K] = {};
  const float* const end = pairs + n * (n + 1) / 2;
  *pairs++ = 0.0f;
  for (std::size_t i = 1; i < n; ++i) {
    std::size_t j = 0;
    for (; j + N <= i; j += N) {
      V sums[kEntries];
#pragma GCC unroll 16
      for (std::size_t e = 0; e < kEntries; ++e) {
        const std::size_t at = j + e * S;
        sums[e] = products<Isa, K>(own_slots(r, i, at), Slots::others(r, i, at));
      }
      Isa::template slot_sums<kEntries>(sums).store_unaligned(pairs + j);
    }
    if (j < i) {
      V sums[kEntries];
#pragma GCC unroll 16
      for (std::size_t e = 0; e < kEntries; ++e) {
        const std::size_t at = j + e * S;
        sums[e] = V(0.0f);
        if (at + S <= i) {
          sums[e] = products<Isa, K>(own_slots(r, i, at), Slots::others(r, i, at));
        } else if (at < i) {
          sums[e] = products<Isa, K>(Slots::own(r, i, at, i - at, kSpare),
                                     Slots::others(r, i, at, i - at, kSpare));
        }
      }
      const V values = Isa::template slot_sums<kEntries>(sums);
      // What is stored too much is the next row's, which comes later.
      if (pairs + j + N <= end) {
        values.store_unaligned(pairs + j);
      } else {
        Isa::store_part(pairs + j, values, i - j);
      }
    }
    pairs[i] = 0.0f;
    pairs += i + 1;
  }
}

template <class Isa>
[[gnu::flatten]] void ffm_pairs_any(const Rows<const float>& r, std::size_t n, std::size_t k,
                                    float* pairs) {
  using V = typename Isa::V;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const float* own = r.slot(i, j, k);
      const float* other = r.slot(j, i, k);
      V sum(0.0f);
      sweep<Isa>(k, [&](std::size_t c, auto lanes) {
        sum = Isa::fma(lanes.load(own + c), lanes.load(other + c), sum);
      });
      *pairs++ = Isa::sum(sum);
    }
    *pairs++ = 0.0f;
  }
}

template <class Isa>
void ffm_pairs(const float* const* rows, const std::uint32_t* fields, std::size_t n, std::size_t k,
               float* pairs) {
  if (n == 0) return;
  const Rows<const float> r = {rows, fields};
  const auto fixed = [&]<std::size_t K>() {
    with_own_slots<Isa, K, const float, (K < kLanes<Isa>)>(
        fields, n, [&](const auto& own) { ffm_pairs_fixed<Isa, K>(r, n, pairs, own); });
  };
  with_slot_length(k, fixed, [&] { ffm_pairs_any<Isa>(r, n, k, pairs); });
}

// ---- update, one accumulator per weight ----

/// The step of a bundle of pairs, both sides, from the weights as they were.
template <class Isa, std::size_t K, class Own, class Others, class Step>
inline void step_bundle(typename Isa::V delta, const Own& w_own, const Own& acc_own,
                        const Others& w_others, const Others& acc_others, const Step& step) {
  using V = typename Isa::V;
  for (std::size_t c = 0; c < K; c += kLanes<Isa>) {
    V w_a = w_own.load(c);
    V w_b = w_others.load(c);
    V acc_a = acc_own.load(c);
    V acc_b = acc_others.load(c);
    const V g_a = delta * w_b;
    const V g_b = delta * w_a;
    step.apply(g_a, w_a, acc_a);
    step.apply(g_b, w_b, acc_b);
    w_own.store(c, w_a);
    w_others.store(c, w_b);
    acc_own.store(c, acc_a);
    acc_others.store(c, acc_b);
  }
}

template <class Isa, std::size_t K, class Step, class OwnSlots>
[[gnu::flatten]] void ffm_update_pairs_fixed(Rows<float> w, Rows<float> acc, std::size_t n,
                                             const float* delta, Step step, OwnSlots own_slots) {
  using Slots = Scattered<Isa, K, float>;
  constexpr std::size_t S = kBundle<Isa, K>;
  ++delta;
  for (std::size_t i = 1; i < n; ++i) {
    std::size_t j = 0;
    for (; j + S <= i; j += S) {
      step_bundle<Isa, K>(Isa::template spread<K>(delta + j), own_slots(w, i, j),
                          own_slots(acc, i, j), Slots::others(w, i, j), Slots::others(acc, i, j),
                          step);
    }
    if constexpr (S > 1) {
      const std::size_t rest = i - j;
      if (rest != 0) {
        alignas(64) float spare[K] = {};  // moves nowhere: its delta is 0
        step_bundle<Isa, K>(spread_part<Isa, K>(delta + j, rest * K),
                            Slots::own(w, i, j, rest, spare), Slots::own(acc, i, j, rest, spare),
                            Slots::others(w, i, j, rest, spare),
                            Slots::others(acc, i, j, rest, spare), step);
      }
    }
    delta += i + 1;
  }
}

template <class Isa, class Step>
[[gnu::flatten]] void ffm_update_pairs_any(const Rows<float>& w, const Rows<float>& acc,
                                           std::size_t n, std::size_t k, const float* delta,
                                           const Step& step) {
  using V = typename Isa::V;
  for (std::size_t i = 0; i < n; ++i, ++delta) {
    for (std::size_t j = 0; j < i; ++j) {
      const V d(*delta++);
      float* const own = w.slot(i, j, k);
      float* const other = w.slot(j, i, k);
      float* const own_squares = acc.slot(i, j, k);
      float* const other_squares = acc.slot(j, i, k);
      sweep<Isa>(k, [&](std::size_t c, auto lanes) {
        V w_a = lanes.load(own + c);
        V w_b = lanes.load(other + c);
        V acc_a = lanes.load(own_squares + c);
        V acc_b = lanes.load(other_squares + c);
        const V g_a = d * w_b;
        const V g_b = d * w_a;
        step.apply(g_a, w_a, acc_a);
        step.apply(g_b, w_b, acc_b);
        lanes.store(own + c, w_a);
        lanes.store(other + c, w_b);
        lanes.store(own_squares + c, acc_a);
        lanes.store(other_squares + c, acc_b);
      });
    }
  }
}

template <class Isa>
void ffm_update_pairs(float* const* rows, float* const* accs, const std::uint32_t* fields,
                      std::size_t n, std::size_t k, const float* delta, StepRule rule) {
  if (n < 2) return;
  const Rows<float> w = {rows, fields};
  const Rows<float> acc = {accs, fields};
  with_step<Isa>(rule, [&]<class Step>(const Step& step) {
    const auto fixed = [&]<std::size_t K>() {
      with_own_slots<Isa, K, float, (K < kLanes<Isa>)&&!Step::kHasL2>(
          fields, n,
          [&](const auto& own) { ffm_update_pairs_fixed<Isa, K>(w, acc, n, delta, step, own); });
    };
    with_slot_length(k, fixed, [&] { ffm_update_pairs_any<Isa>(w, acc, n, k, delta, step); });
  });
}

}  // namespace leveret::kernels::generic
