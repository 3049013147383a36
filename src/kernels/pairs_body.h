/// FFM over fields of one feature each, straight on the rows, generic in instruction set and k.
///
/// Row i meets the rows before it in bundles of S fields, S slots being one register. Row i's own
/// slots for those fields lie side by side where no field is missing; the others' slots for row i's
/// field lie one in each row. Addresses are taken once, before anything is stored: the compiler
/// cannot know that a store leaves the tables of rows alone. For the same reason the kernels take
/// the small structs by value.
#pragma once

#include "kernels/ffm_body.h"
#include "kernels/vector_body.h"

namespace leveret::kernels::generic {

/// The weights of one example's rows; T is float or Fixed16.
template <class T>
struct Rows {
  std::byte* const* rows;
  const std::uint32_t* fields;

  T* row(std::size_t i) const { return reinterpret_cast<T*>(rows[i]); }
  /// Row i's slot of k weights for the field of row j.
  T* slot(std::size_t i, std::size_t j, std::size_t k) const { return row(i) + fields[j] * k; }
};

template <class T>
struct Rows<const T> {
  const std::byte* const* rows;
  const std::uint32_t* fields;

  const T* slot(std::size_t i, std::size_t j, std::size_t k) const {
    return reinterpret_cast<const T*>(rows[i]) + fields[j] * k;
  }
};

/// Their accumulators, one per slot; A is float or Bf16.
template <class A>
struct Accs {
  std::byte* const* rows;
  const std::uint32_t* fields;

  A* row(std::size_t i) const { return reinterpret_cast<A*>(rows[i]); }
  /// That of row i's slot for the field of row j, and those of the slots behind it.
  A* slot(std::size_t i, std::size_t j) const { return row(i) + fields[j]; }
};

template <class Isa, std::size_t K>
constexpr std::size_t kBundle = K < kLanes<Isa> ? kLanes<Isa> / K : 1;

/// What slots of these rows or accumulators are made of.
template <class R>
using SlotOf = std::remove_pointer_t<decltype(std::declval<R>().slot(0, 0, 0))>;

/// A bundle's slots in one row, for fields that follow each other.
template <class Isa, std::size_t K, class T>
struct Adjacent {
  T* at;

  typename Isa::V load(std::size_t c) const { return Whole<Isa>::load(at + c); }
  void store(std::size_t c, typename Isa::V v) const { Whole<Isa>::store(at + c, v); }
};

/// A bundle's slots anywhere; beyond `count` stands `spare`, a slot for nothing.
template <class Isa, std::size_t K, class T>
struct Scattered {
  static constexpr std::size_t S = kBundle<Isa, K>;
  T* at[S];

  /// Row i's slots for the fields of rows j, j+1, …
  template <class R>
  static Scattered own(const R& r, std::size_t i, std::size_t j, std::size_t count = S,
                       T* spare = nullptr) {
    Scattered x;
    for (std::size_t s = 0; s < S; ++s) x.at[s] = s < count ? r.slot(i, j + s, K) : spare;
    return x;
  }
  /// The slots of rows j, j+1, … for row i's field.
  template <class R>
  static Scattered others(const R& r, std::size_t i, std::size_t j, std::size_t count = S,
                          T* spare = nullptr) {
    Scattered x;
    for (std::size_t s = 0; s < S; ++s) x.at[s] = s < count ? r.slot(j + s, i, K) : spare;
    return x;
  }
  typename Isa::V load(std::size_t c) const {
    if constexpr (S > 1) return Isa::template load_slots<K>(at);
    return Whole<Isa>::load(at[0] + c);
  }
  void store(std::size_t c, typename Isa::V v) const {
    if constexpr (S > 1) {
      Isa::template store_slots<K>(at, v);
    } else {
      Whole<Isa>::store(at[0] + c, v);
    }
  }
};

/// Whether n > 0 fields follow each other without a gap.
inline bool adjacent(const std::uint32_t* fields, std::size_t n) {
  return fields[n - 1] - fields[0] == n - 1;
}

/// Calls body(own) with row i's slots as they lie: own(rows, i, j) makes a bundle of them. Without
/// `kMayBeAdjacent` they are always taken one by one, which saves code where speed lies elsewhere.
template <class Isa, std::size_t K, bool kMayBeAdjacent, class Body>
inline auto with_own_slots(const std::uint32_t* fields, std::size_t n, Body&& body) {
  if constexpr (kMayBeAdjacent) {
    if (adjacent(fields, n)) {
      return body([](const auto& r, std::size_t i, std::size_t j) {
        return Adjacent<Isa, K, SlotOf<decltype(r)>>{r.slot(i, j, K)};
      });
    }
  }
  return body([](const auto& r, std::size_t i, std::size_t j) {
    return Scattered<Isa, K, SlotOf<decltype(r)>>::own(r, i, j);
  });
}

/// Calls fixed<k>() for the slot lengths that have code of their own, any() for the others.
template <class Fixed, class Any>
inline auto with_slot_length(std::size_t k, Fixed&& fixed, Any&& any) {
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

template <class Isa, std::size_t K, class T, class OwnSlots>
[[gnu::flatten]] float ffm_pairs_fixed(Rows<const T> r, Units<Isa, T> units, std::size_t n,
                                       float* pairs, OwnSlots own_slots) {
  using V = typename Isa::V;
  using Slots = Scattered<Isa, K, const T>;
  constexpr std::size_t N = kLanes<Isa>;
  constexpr std::size_t S = kBundle<Isa, K>;
  constexpr std::size_t kEntries = N / S;
  alignas(64) static constexpr T kSpare[K] = {};
  const float* const first = pairs;
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
      units.products(Isa::template slot_sums<kEntries>(sums)).store_unaligned(pairs + j);
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
      const V values = units.products(Isa::template slot_sums<kEntries>(sums));
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
  return total<Isa>(first, static_cast<std::size_t>(end - first));
}

template <class Isa, class T>
[[gnu::flatten]] float ffm_pairs_any(const Rows<const T>& r, const Units<Isa, T>& units,
                                     std::size_t n, std::size_t k, float* pairs) {
  using V = typename Isa::V;
  const float* const first = pairs;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const T* own = r.slot(i, j, k);
      const T* other = r.slot(j, i, k);
      V sum(0.0f);
      sweep<Isa>(k, [&](std::size_t c, auto lanes) {
        sum = Isa::fma(lanes.load(own + c), lanes.load(other + c), sum);
      });
      *pairs++ = Isa::sum(units.products(sum));
    }
    *pairs++ = 0.0f;
  }
  return total<Isa>(first, n * (n + 1) / 2);
}

// ---- the pairs' gradients ----

/// Registers are whole: what is stored too much is the next row's, which comes later.
template <class Isa, bool kWithD>
inline void ffm_deltas_of(const float* d, float own, const float* x, std::size_t n, float* delta) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  static_assert(N <= Kernels::kSpare);
  const V all(own);
  for (std::size_t i = 0; i < n; ++i) {
    const V x_i(x[i]);
    for (std::size_t j = 0; j < i; j += N) {
      const V values = x_i * V::load_unaligned(x + j);
      V g = all;
      if constexpr (kWithD) g = V::load_unaligned(d + j) + all;
      xsimd::select(values == V(0.0f), V(0.0f), g * values).store_unaligned(delta + j);
    }
    delta[i] = 0.0f;
    delta += i + 1;
    if constexpr (kWithD) d += i + 1;
  }
}

template <class Isa>
[[gnu::flatten]] void ffm_deltas(const float* d, float own, const float* x, std::size_t n,
                                 float* delta) {
  if (d != nullptr) return ffm_deltas_of<Isa, true>(d, own, x, n, delta);
  ffm_deltas_of<Isa, false>(d, own, x, n, delta);
}

}  // namespace leveret::kernels::generic
