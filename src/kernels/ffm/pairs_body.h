/// FFM over fields of one feature each, straight on the rows, generic in instruction set and k.
///
/// Pairs form rectangles: some rows meet those of another example. An example's own are a triangle:
/// row i meets the rows before it. Both are walked by the same code.
///
/// Row i meets the rows before it in bundles of S fields, S slots being one register. Row i's own
/// slots for those fields lie side by side where no field is missing; the others' slots for row i's
/// field lie one in each row. Addresses are taken once, before anything is stored: the compiler
/// cannot know that a store leaves the tables of rows alone. For the same reason the kernels take
/// the small structs by value.
#pragma once

#include "kernels/dense/vector_body.h"
#include "kernels/ffm/ffm_body.h"

namespace leveret::kernels::generic {

/// The weights of one example's rows; T is float or Fixed16.
template <class T>
struct Rows {
  std::byte* const* rows;
  const std::uint32_t* fields;

  T* row(std::size_t i) const { return reinterpret_cast<T*>(rows[i]); }
  /// Row i's slot of k weights for the field of row j.
  T* slot(std::size_t i, std::size_t j, std::size_t k) const { return row(i) + fields[j] * k; }
  /// Both slots of pair (i, j): row i's, and the other row's.
  T* own(std::size_t i, std::size_t j, std::size_t k) const { return slot(i, j, k); }
  T* other(std::size_t i, std::size_t j, std::size_t k) const { return slot(j, i, k); }
};

// Which pairs there are: rows 0 … count - 1, of which row i meets columns(i) others. Where it has a
// place for the pair with itself, that stands behind these (end_row). Where kOthersFollow, the
// slots of the others for row i's field follow each other.

/// Those of one example's n rows among themselves: its triangle.
template <class T>
struct Rows<const T> {
  static constexpr bool kOthersFollow = false;
  const std::byte* const* rows;
  const std::uint32_t* fields;
  std::size_t count;

  std::size_t columns(std::size_t i) const { return i; }
  /// Behind row i's pairs with others stand `pairs`; returns where those of the next row begin.
  float* end_row(std::size_t, float* pairs) const {
    *pairs = 0.0f;
    return pairs + 1;
  }
  std::size_t size() const { return count * (count + 1) / 2; }
  const T* slot(std::size_t i, std::size_t j, std::size_t k) const {
    return reinterpret_cast<const T*>(rows[i]) + fields[j] * k;
  }
  const T* own(std::size_t i, std::size_t j, std::size_t k) const { return slot(i, j, k); }
  const T* other(std::size_t i, std::size_t j, std::size_t k) const { return slot(j, i, k); }
};

/// Those of `count` rows with n of another example, whose fields these are and whose slots were
/// gathered.
template <class T>
struct RowsWithSlots {
  static constexpr bool kOthersFollow = true;
  const std::byte* const* rows;
  const std::byte* const* slots;
  std::size_t count;
  const std::uint32_t* fields;
  std::size_t n;

  std::size_t columns(std::size_t) const { return n; }
  float* end_row(std::size_t, float* pairs) const { return pairs; }
  std::size_t size() const { return count * n; }
  const T* own(std::size_t i, std::size_t j, std::size_t k) const {
    return reinterpret_cast<const T*>(rows[i]) + fields[j] * k;
  }
  const T* other(std::size_t i, std::size_t j, std::size_t k) const {
    return reinterpret_cast<const T*>(slots[i]) + j * k;
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

/// The type of numbers that slots of these rows or accumulators are made of.
template <class R>
using SlotOf = std::remove_pointer_t<decltype(std::declval<R>().own(0, 0, 0))>;

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
    for (std::size_t s = 0; s < S; ++s) x.at[s] = s < count ? r.own(i, j + s, K) : spare;
    return x;
  }
  /// The slots of rows j, j+1, … for row i's field.
  template <class R>
  static Scattered others(const R& r, std::size_t i, std::size_t j, std::size_t count = S,
                          T* spare = nullptr) {
    Scattered x;
    for (std::size_t s = 0; s < S; ++s) x.at[s] = s < count ? r.other(i, j + s, K) : spare;
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
inline auto with_own_slots(bool follow, Body&& body) {
  if constexpr (kMayBeAdjacent) {
    if (follow) {
      return body([](const auto& r, std::size_t i, std::size_t j) {
        return Adjacent<Isa, K, SlotOf<decltype(r)>>{r.own(i, j, K)};
      });
    }
  }
  return body([](const auto& r, std::size_t i, std::size_t j) {
    return Scattered<Isa, K, SlotOf<decltype(r)>>::own(r, i, j);
  });
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

/// The slots of rows j, j+1, … for row i's field, as they lie.
template <class Isa, std::size_t K, class R>
inline auto other_slots(const R& r, std::size_t i, std::size_t j) {
  if constexpr (R::kOthersFollow) {
    return Adjacent<Isa, K, SlotOf<R>>{r.other(i, j, K)};
  } else {
    return Scattered<Isa, K, SlotOf<R>>::others(r, i, j);
  }
}

/// The sums of products of up to a register of pairs (i, j), (i, j + 1), …; 0 beyond `count`.
template <class Isa, std::size_t K, class R, class OwnSlots>
[[gnu::always_inline]] inline typename Isa::V block_of_pairs(const R& r, std::size_t i,
                                                             std::size_t j, std::size_t count,
                                                             const OwnSlots& own_slots) {
  using V = typename Isa::V;
  using T = std::remove_const_t<SlotOf<R>>;
  using Slots = Scattered<Isa, K, const T>;
  constexpr std::size_t S = kBundle<Isa, K>;
  constexpr std::size_t kEntries = kLanes<Isa> / S;
  alignas(64) static constexpr T kSpare[K] = {};
  V sums[kEntries];
#pragma GCC unroll 16
  for (std::size_t e = 0; e < kEntries; ++e) {
    const std::size_t at = e * S;
    sums[e] = V(0.0f);
    if (at + S <= count) {
      sums[e] = products<Isa, K>(own_slots(r, i, j + at), other_slots<Isa, K>(r, i, j + at));
    } else if (at < count) {
      sums[e] = products<Isa, K>(Slots::own(r, i, j + at, count - at, kSpare),
                                 Slots::others(r, i, j + at, count - at, kSpare));
    }
  }
  return Isa::template slot_sums<kEntries>(sums);
}

/// Row by row, block(i, j, count) makes up to a register of pairs of a row, 0 beyond count; returns
/// their sums, lane by lane.
template <class Isa, class R, class Block>
[[gnu::always_inline]] inline typename Isa::V for_each_block(const R& r, float* pairs,
                                                             Block&& block) {
  using V = typename Isa::V;
  constexpr std::size_t N = kLanes<Isa>;
  const float* const end = pairs + r.size();
  V sum(0.0f);
  for (std::size_t i = 0; i < r.count; ++i) {
    const std::size_t n = r.columns(i);
    std::size_t j = 0;
    for (; j + N <= n; j += N) {
      const V values = block(i, j, N);
      values.store_unaligned(pairs + j);
      sum = sum + values;
    }
    if (j < n) {
      const V values = block(i, j, n - j);
      // The surplus that is stored is the next row's, which comes later.
      if (pairs + j + N <= end) {
        values.store_unaligned(pairs + j);
      } else {
        Isa::store_part(pairs + j, values, n - j);
      }
      sum = sum + values;
    }
    pairs = r.end_row(i, pairs + n);
  }
  return sum;
}

template <class Isa, std::size_t K, class T, class R, class OwnSlots>
[[gnu::flatten]] float ffm_pairs_fixed(R r, Units<Isa, T> units, float* pairs, OwnSlots own_slots) {
  for_each_block<Isa>(r, pairs, [&](std::size_t i, std::size_t j, std::size_t count) {
    return units.products(block_of_pairs<Isa, K>(r, i, j, count, own_slots));
  });
  return total<Isa>(pairs, r.size());
}

template <class Isa, class T, class R>
[[gnu::flatten]] float ffm_pairs_any(const R& r, const Units<Isa, T>& units, std::size_t k,
                                     float* pairs) {
  using V = typename Isa::V;
  const float* const first = pairs;
  for (std::size_t i = 0; i < r.count; ++i) {
    const std::size_t n = r.columns(i);
    for (std::size_t j = 0; j < n; ++j) {
      const T* own = r.own(i, j, k);
      const T* other = r.other(i, j, k);
      V sum(0.0f);
      sweep<Isa>(k, [&](std::size_t c, auto lanes) {
        sum = Isa::fma(lanes.load(own + c), lanes.load(other + c), sum);
      });
      *pairs++ = Isa::sum(units.products(sum));
    }
    pairs = r.end_row(i, pairs);
  }
  return total<Isa>(first, r.size());
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
