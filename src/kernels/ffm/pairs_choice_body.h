/// Which of the kernels for rows in place takes an example.
#pragma once

#include "kernels/ffm/pairs_int16_body.h"
#include "kernels/ffm/pairs_words_body.h"
#include "kernels/tables.h"

namespace leveret::kernels::generic {

/// Calls body.operator()<k>() for a slot length that integers are taken in (by_words).
template <class Body>
auto with_int_slots(std::size_t k, Body&& body) {
  return with_slot_length<2>(k, body, [&] { return body.template operator()<16>(); });
}

/// Whether rows of integers go by registers of words: by tiles, where there are any and n fields
/// follow each other.
template <class Isa>
constexpr bool by_words(std::size_t k) {
  return (Isa::kTiles || Isa::kWords) && (k == 2 || k == 4 || k == 8 || k == 16);
}
template <class Isa>
bool by_tiles(const std::uint32_t* fields, std::size_t n, std::size_t k) {
  return Isa::kTiles && by_words<Isa>(k) && n >= kTile && adjacent(fields, n);
}

/// Calls body(weight) with a weight of the type that rows in registers have.
template <class Body>
auto with_weights(Codec weights, Body&& body) {
  if (weights.is_fixed(16)) return body(Fixed16{});
  return body(float{});
}

/// By bench_kernels_ffm, with gaps and without: beside tiles gaps cost some four times as much, by
/// words as much as none.
template <class Isa>
float fill_from(Codec weights, std::size_t k, StepRule rule) {
  const bool integers = weights.is_fixed(16) && by_words<Isa>(k);
  if (!integers || rule.power != 0.5f || rule.l2 != 0.0f) return 0.75f;
  return Isa::kWords ? 0.9f : 0.5f;
}

/// Pairs of whichever rows. `follow`: a row's slots for the others' fields follow each other.
template <class Isa, class T, class R>
float pairs_of_rows(const R& r, Codec weights, bool follow, std::size_t k, float* pairs) {
  if constexpr (std::is_same_v<T, Fixed16> && (Isa::kTiles || Isa::kWords)) {
    if (by_words<Isa>(k)) {
      return with_int_slots(k, [&]<std::size_t K>() {
        const float unit = weights.unit();
        if (follow) return ffm_pairs_words<Isa, K, true>(r, unit, pairs);
        return ffm_pairs_words<Isa, K, false>(r, unit, pairs);
      });
    }
  }
  const Units<Isa, T> units(weights);
  const auto fixed = [&]<std::size_t K>() {
    return with_own_slots<Isa, K, (K < kLanes<Isa>)>(
        follow, [&](const auto& own) { return ffm_pairs_fixed<Isa, K, T>(r, units, pairs, own); });
  };
  return with_slot_length<2>(k, fixed, [&] { return ffm_pairs_any<Isa, T>(r, units, k, pairs); });
}

template <class Isa>
float ffm_pairs(Codec weights, const std::byte* const* rows, const std::uint32_t* fields,
                std::size_t n, std::size_t k, float* pairs) {
  if (n == 0) return 0.0f;
  if (!in_registers(weights)) return kReference.ffm_pairs(weights, rows, fields, n, k, pairs);
  return with_weights(weights, [&]<class T>(T) {
    const Rows<const T> r = {rows, fields, n};
    if constexpr (Isa::kTiles && std::is_same_v<T, Fixed16>) {
      if (by_tiles<Isa>(fields, n, k)) {
        return with_int_slots(k, [&]<std::size_t K>() {
          return ffm_pairs_int16<Isa, K>(r, weights.unit(), n, pairs);
        });
      }
    }
    return pairs_of_rows<Isa, T>(r, weights, adjacent(fields, n), k, pairs);
  });
}

template <class Isa>
float ffm_rectangle(Codec weights, const std::byte* const* rows, const std::byte* const* slots,
                    std::size_t m, const std::uint32_t* fields, std::size_t n, std::size_t k,
                    float* pairs) {
  if (m == 0 || n == 0) return 0.0f;
  if (!in_registers(weights)) {
    return kReference.ffm_rectangle(weights, rows, slots, m, fields, n, k, pairs);
  }
  return with_weights(weights, [&]<class T>(T) {
    const RowsWithSlots<T> r = {rows, slots, m, fields, n};
    return pairs_of_rows<Isa, T>(r, weights, adjacent(fields, n), k, pairs);
  });
}

template <class Isa>
void ffm_update_pairs(Codec weights, Codec state, std::byte* const* rows, std::byte* const* accs,
                      const std::uint32_t* fields, std::size_t n, std::size_t k, const float* delta,
                      StepRule rule, std::uint32_t noise) {
  if (n < 2) return;
  if (!in_registers(weights, state)) {
    return kReference.ffm_update_pairs(weights, state, rows, accs, fields, n, k, delta, rule,
                                       noise);
  }
  with_weights(weights, [&]<class T>(T) {
    const Rows<T> w = {rows, fields};
    const Accs<StateOf<T>> acc = {accs, fields};
    with_step<Isa>(rule, [&]<class Step>(const Step& step) {
      if constexpr (Isa::kTiles && !Step::kHasL2 && std::is_same_v<T, Fixed16>) {
        if (by_tiles<Isa>(fields, n, k)) {
          return with_int_slots(k, [&]<std::size_t K>() {
            ffm_update_pairs_int16<Isa, K>(w, weights.unit(), acc, n, delta, rule.rate, noise);
          });
        }
      }
      if constexpr (Isa::kWords && !Step::kHasL2 && std::is_same_v<T, Fixed16>) {
        if (by_words<Isa>(k)) {
          return with_int_slots(k, [&]<std::size_t K>() {
            const float unit = weights.unit();
            if (adjacent(fields, n)) {
              ffm_update_pairs_words<Isa, K, true>(w, unit, acc, n, delta, step, noise);
            } else {
              ffm_update_pairs_words<Isa, K, false>(w, unit, acc, n, delta, step, noise);
            }
          });
        }
      }
      const Units<Isa, T> units(weights);
      const auto fixed = [&]<std::size_t K>() {
        with_own_slots<Isa, K, (K < kLanes<Isa>)&&!Step::kHasL2>(
            adjacent(fields, n), [&](const auto& own) {
              ffm_update_pairs_fixed<Isa, K>(w, units, acc, n, delta, step, noise, own);
            });
      };
      with_slot_length<2>(
          k, fixed, [&] { ffm_update_pairs_any<Isa>(w, units, acc, n, k, delta, step, noise); });
    });
  });
}

}  // namespace leveret::kernels::generic
