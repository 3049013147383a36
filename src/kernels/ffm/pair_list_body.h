/// FFM pairs by a list, and their gradients, straight on the rows: a row's own slots follow each
/// other, and those that they meet lie anywhere (pairs_body.h).
#pragma once

#include "kernels/ffm/ffm_batch_body.h"

namespace leveret::kernels::generic {

template <class T>
struct ListedRows {
  static constexpr bool kOthersFollow = false;
  const std::byte* const* rows;
  PairList list;
  std::size_t count, pairs;

  ListedRows(const std::byte* const* of, const PairList& some)
      : rows(of), list(some), count(some.n), pairs(some.size()) {}

  std::size_t columns(std::size_t i) const { return list.before[i]; }
  float* end_row(std::size_t i, float* end) const {
    if (!list.has_own(i)) return end;
    *end = 0.0f;
    return end + 1;
  }
  std::size_t size() const { return pairs; }
  const T* own(std::size_t i, std::size_t j, std::size_t k) const {
    return reinterpret_cast<const T*>(rows[i]) + j * k;
  }
  const T* other(std::size_t i, std::size_t j, std::size_t k) const {
    const PairList::Other& met = list.of(i)[j];
    return reinterpret_cast<const T*>(rows[met.row]) + met.slot * k;
  }
};

template <class Isa>
float ffm_listed_pairs(Codec weights, const std::byte* const* rows, const PairList& list,
                       std::size_t k, float* pairs) {
  if (!in_registers(weights)) return kReference.ffm_listed_pairs(weights, rows, list, k, pairs);
  return with_weights(weights, [&]<class T>(T) {
    return pairs_of_rows<Isa, T>(ListedRows<T>(rows, list), weights, true, k, pairs);
  });
}

template <class Isa, std::size_t K, class T>
[[gnu::flatten]] void ffm_listed_gradients_fixed(const ListedRows<T>& r, float unit,
                                                 const float* delta, float* const* sums) {
  using V = typename Isa::V;
  using Slots = Scattered<Isa, K, const T>;
  constexpr std::size_t N = kLanes<Isa>;
  constexpr std::size_t S = kBundle<Isa, K>;
  static_assert(N <= Kernels::kSpare);
  alignas(64) static constexpr T kSpare[K] = {};
  alignas(64) float d[N];
  for (std::size_t i = 0; i < r.count; ++i) {
    if (sums[i] == nullptr) continue;
    const float* const own = delta + r.list.begin[i];
    const std::size_t slots = r.list.slots(i);
    for (std::size_t j = 0; j < slots; j += N) {
      (V::load_unaligned(own + j) * V(unit)).store_aligned(d);
      const std::size_t end = std::min(slots, j + N);
      for (std::size_t s = j; s < end; s += S) {
        float* const to = sums[i] + s * K;
        if (s + S <= end) {
          add_bundle<Isa, K, true, T>(Slots::others(r, i, s), d + (s - j), &to, S);
        } else {
          add_bundle<Isa, K, true, T>(Slots::others(r, i, s, end - s, kSpare), d + (s - j), &to,
                                      end - s);
        }
      }
    }
  }
}

/// Any k: slot by slot.
template <class Isa, class T>
[[gnu::flatten]] void ffm_listed_gradients_any(const ListedRows<T>& r, float unit, std::size_t k,
                                               const float* delta, float* const* sums) {
  using V = typename Isa::V;
  for (std::size_t i = 0; i < r.count; ++i) {
    if (sums[i] == nullptr) continue;
    for (std::size_t j = 0; j < r.list.slots(i); ++j) {
      const V d(delta[r.list.begin[i] + j] * unit);
      const T* const other = r.other(i, j, k);
      float* const to = sums[i] + j * k;
      sweep<Isa>(k, [&](std::size_t c, auto lanes) {
        lanes.store(to + c, Isa::fma(d, lanes.load(other + c), lanes.load(to + c)));
      });
    }
  }
}

template <class Isa>
void ffm_listed_gradients(Codec weights, const std::byte* const* rows, const PairList& list,
                          std::size_t k, const float* delta, float* const* sums) {
  if (!in_registers(weights)) {
    return kReference.ffm_listed_gradients(weights, rows, list, k, delta, sums);
  }
  const float unit = weights.is_fixed(16) ? weights.unit() : 1.0f;
  with_weights(weights, [&]<class T>(T) {
    const ListedRows<T> r(rows, list);
    with_slot_length<2>(
        k, [&]<std::size_t K>() { ffm_listed_gradients_fixed<Isa, K>(r, unit, delta, sums); },
        [&] { ffm_listed_gradients_any<Isa>(r, unit, k, delta, sums); });
  });
}

}  // namespace leveret::kernels::generic
