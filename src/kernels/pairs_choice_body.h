/// Which of the kernels for rows in place takes an example.
#pragma once

#include "kernels/pairs_q12_body.h"
#include "kernels/pairs_words_body.h"

namespace leveret::kernels::generic {

/// Calls body.operator()<k>() for a slot length that integers are taken in.
template <class Body>
auto with_int_slots(std::size_t k, Body&& body) {
  if (k == 2) return body.template operator()<2>();
  if (k == 4) return body.template operator()<4>();
  if (k == 8) return body.template operator()<8>();
  return body.template operator()<16>();
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

/// By bench_kernels_ffm, with gaps and without: beside tiles gaps cost some four times as much, by
/// words as much as none.
template <class Isa>
float fill_from(RowFormat format, std::size_t k, StepRule rule) {
  const bool integers = format == RowFormat::kI16 && by_words<Isa>(k);
  if (!integers || rule.power != 0.5f || rule.l2 != 0.0f) return 0.75f;
  return Isa::kWords ? 0.9f : 0.5f;
}

template <class Isa>
float ffm_pairs(RowFormat format, const std::byte* const* rows, const std::uint32_t* fields,
                std::size_t n, std::size_t k, float* pairs) {
  if (n == 0) return 0.0f;
  return with_format(format, [&]<class T>(T) {
    const Rows<const T> r = {rows, fields};
    if constexpr (Isa::kTiles && std::is_same_v<T, Q12>) {
      if (by_tiles<Isa>(fields, n, k)) {
        return with_int_slots(k,
                              [&]<std::size_t K>() { return ffm_pairs_q12<Isa, K>(r, n, pairs); });
      }
    }
    if constexpr (Isa::kWords && std::is_same_v<T, Q12>) {
      if (by_words<Isa>(k)) {
        return with_int_slots(k, [&]<std::size_t K>() {
          if (adjacent(fields, n)) return ffm_pairs_words<Isa, K, true>(r, n, pairs);
          return ffm_pairs_words<Isa, K, false>(r, n, pairs);
        });
      }
    }
    const auto fixed = [&]<std::size_t K>() {
      return with_own_slots<Isa, K, (K < kLanes<Isa>)>(
          fields, n, [&](const auto& own) { return ffm_pairs_fixed<Isa, K>(r, n, pairs, own); });
    };
    return with_slot_length(k, fixed, [&] { return ffm_pairs_any<Isa>(r, n, k, pairs); });
  });
}

template <class Isa>
void ffm_update_pairs(RowFormat format, std::byte* const* rows, std::byte* const* accs,
                      const std::uint32_t* fields, std::size_t n, std::size_t k, const float* delta,
                      StepRule rule, std::uint32_t noise) {
  if (n < 2) return;
  with_format(format, [&]<class T>(T) {
    const Rows<T> w = {rows, fields};
    const Accs<SliceOf<T>> acc = {accs, fields};
    with_step<Isa>(rule, [&]<class Step>(const Step& step) {
      if constexpr (Isa::kTiles && !Step::kHasL2 && std::is_same_v<T, Q12>) {
        if (by_tiles<Isa>(fields, n, k)) {
          return with_int_slots(k, [&]<std::size_t K>() {
            ffm_update_pairs_q12<Isa, K>(w, acc, n, delta, rule.rate, noise);
          });
        }
      }
      if constexpr (Isa::kWords && !Step::kHasL2 && std::is_same_v<T, Q12>) {
        if (by_words<Isa>(k)) {
          return with_int_slots(k, [&]<std::size_t K>() {
            if (adjacent(fields, n)) {
              ffm_update_pairs_words<Isa, K, true>(w, acc, n, delta, step, noise);
            } else {
              ffm_update_pairs_words<Isa, K, false>(w, acc, n, delta, step, noise);
            }
          });
        }
      }
      const auto fixed = [&]<std::size_t K>() {
        with_own_slots<Isa, K, (K < kLanes<Isa>)&&!Step::kHasL2>(fields, n, [&](const auto& own) {
          ffm_update_pairs_fixed<Isa, K>(w, acc, n, delta, step, noise, own);
        });
      };
      with_slot_length(k, fixed,
                       [&] { ffm_update_pairs_any<Isa>(w, acc, n, k, delta, step, noise); });
    });
  });
}

}  // namespace leveret::kernels::generic
