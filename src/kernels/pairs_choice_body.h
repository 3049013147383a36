/// Which of the kernels for rows in place takes an example.
#pragma once

#include "kernels/pairs_q12_body.h"
#include "kernels/pairs_tile_body.h"
#include "kernels/pairs_words_body.h"

namespace leveret::kernels::generic {

/// Calls body with how registers of words take slots of k weights, 2 <= k <= 16.
template <class Isa, class Body>
auto with_slots(std::size_t k, Body&& body) {
  using Words = typename Isa::Words;
  if (k == 2) return body(typename Words::template WholeSlots<2>());
  if (k == 4) return body(typename Words::template WholeSlots<4>());
  if (k == 8) return body(typename Words::template WholeSlots<8>());
  if (k == 16) return body(typename Words::template WholeSlots<16>());
  if (k < 4) return body(typename Words::template PartSlots<4>(k));
  if (k < 8) return body(typename Words::template PartSlots<8>(k));
  return body(typename Words::template PartSlots<16>(k));
}

/// Whether rows of integers go by registers of words: by tiles, where there are any and n fields
/// follow each other.
template <class Isa>
constexpr bool by_words(std::size_t k) {
  return (Isa::kTiles || Isa::kWords) && k >= 2 && k <= 16;
}
template <class Isa>
bool by_tiles(const std::uint32_t* fields, std::size_t n, std::size_t k) {
  return Isa::kTiles && by_words<Isa>(k) && n >= kTile && adjacent(fields, n);
}

/// By bench_kernels_ffm, with gaps and without: beside tiles gaps cost some four times as much,
/// with short slots that do not fill registers nine times; by words as much as none.
template <class Isa>
float fill_from(RowFormat format, std::size_t k, bool slice, StepRule rule) {
  const bool integers = format == RowFormat::kI16 && slice && by_words<Isa>(k);
  if (!integers || rule.power != 0.5f || rule.l2 != 0.0f) return 0.75f;
  if (Isa::kWords) return 0.9f;
  return k < 8 && k != 2 && k != 4 ? 0.33f : 0.5f;
}

template <class Isa>
float ffm_pairs(RowFormat format, const std::byte* const* rows, const std::uint32_t* fields,
                std::size_t n, std::size_t k, float* pairs) {
  if (n == 0) return 0.0f;
  return with_format(format, [&]<class T>(T) {
    const Rows<const T> r = {rows, fields};
    if constexpr (Isa::kTiles && std::is_same_v<T, Q12>) {
      if (by_tiles<Isa>(fields, n, k)) {
        return with_slots<Isa>(
            k, [&](const auto& slots) { return ffm_pairs_q12<Isa>(r, slots, n, pairs); });
      }
    }
    if constexpr (Isa::kWords && std::is_same_v<T, Q12>) {
      if (by_words<Isa>(k)) {
        return with_slots<Isa>(k, [&](const auto& slots) {
          if constexpr (std::decay_t<decltype(slots)>::kFill) {
            if (adjacent(fields, n)) return ffm_pairs_words<Isa, true>(r, slots, n, pairs);
          }
          return ffm_pairs_words<Isa, false>(r, slots, n, pairs);
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
float ffm_pairs_sum(RowFormat format, const std::byte* const* rows, const std::uint32_t* fields,
                    std::size_t n, std::size_t k, float* pairs) {
  if constexpr (Isa::kTiles) {
    if (format == RowFormat::kI16 && by_tiles<Isa>(fields, n, k)) {
      const Rows<const Q12> r = {rows, fields};
      return with_slots<Isa>(
          k, [&](const auto& slots) { return ffm_pairs_sum_q12<Isa>(r, slots, n); });
    }
  }
  return ffm_pairs<Isa>(format, rows, fields, n, k, pairs);
}

template <class Isa>
void ffm_update_pairs_slice(RowFormat format, std::byte* const* rows, std::byte* const* accs,
                            const std::uint32_t* fields, std::size_t n, std::size_t k,
                            const float* delta, StepRule rule, std::uint32_t noise) {
  if (n < 2) return;
  with_format(format, [&]<class T>(T) {
    const Rows<T> w = {rows, fields};
    const Accs<SliceOf<T>> acc = {accs, fields};
    with_step<Isa>(rule, [&]<class Step>(const Step& step) {
      if constexpr (Isa::kTiles && !Step::kHasL2 && std::is_same_v<T, Q12>) {
        if (by_tiles<Isa>(fields, n, k)) {
          return with_slots<Isa>(k, [&](const auto& slots) {
            ffm_update_pairs_slice_q12<Isa>(w, slots, acc, n, delta, rule.rate, noise);
          });
        }
      }
      if constexpr (Isa::kWords && !Step::kHasL2 && std::is_same_v<T, Q12>) {
        if (by_words<Isa>(k)) {
          return with_slots<Isa>(k, [&](const auto& slots) {
            if constexpr (std::decay_t<decltype(slots)>::kFill) {
              if (adjacent(fields, n)) {
                return ffm_update_pairs_slice_words<Isa, true>(w, slots, acc, n, delta, step,
                                                               noise);
              }
            }
            ffm_update_pairs_slice_words<Isa, false>(w, slots, acc, n, delta, step, noise);
          });
        }
      }
      const auto fixed = [&]<std::size_t K>() {
        if constexpr (Isa::kTiles && !Step::kHasL2 && std::is_same_v<T, float> &&
                      (K == 4 || K == 8)) {
          if (n >= kTile && adjacent(fields, n)) {
            return ffm_update_pairs_slice_tiles<Isa, K>(w, acc, n, delta, step);
          }
        }
        with_own_slots<Isa, K, (K < kLanes<Isa>)&&!Step::kHasL2>(fields, n, [&](const auto& own) {
          ffm_update_pairs_slice_fixed<Isa, K>(w, acc, n, delta, step, noise, own);
        });
      };
      with_slot_length(k, fixed,
                       [&] { ffm_update_pairs_slice_any<Isa>(w, acc, n, k, delta, step, noise); });
    });
  });
}

}  // namespace leveret::kernels::generic
