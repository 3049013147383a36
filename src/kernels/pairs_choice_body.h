/// Which of the kernels for rows in place takes an example.
#pragma once

#include "kernels/pairs_q12_body.h"
#include "kernels/pairs_tile_body.h"
#include "kernels/pairs_words_body.h"

namespace leveret::kernels::generic {

/// By bench_kernels_ffm, with gaps and without: with tiles gaps cost three times as much, by words
/// as much as none.
template <class Isa>
float fill_from(RowFormat format, std::size_t k, bool slice) {
  const bool fixed = k == 2 || k == 4 || k == 8 || k == 16;
  const bool integers = format == RowFormat::kI16 && slice && fixed;
  if (Isa::kTiles && integers) return 0.5f;
  if (Isa::kWords && integers) return 0.9f;
  return 0.75f;
}

template <class Isa>
float ffm_pairs(RowFormat format, const std::byte* const* rows, const std::uint32_t* fields,
                std::size_t n, std::size_t k, float* pairs) {
  if (n == 0) return 0.0f;
  return with_format(format, [&]<class T>(T) {
    const Rows<const T> r = {rows, fields};
    const auto fixed = [&]<std::size_t K>() {
      if constexpr (Isa::kTiles && std::is_same_v<T, Q12>) {
        if (n >= kTile && adjacent(fields, n)) return ffm_pairs_q12<Isa, K>(r, n, pairs);
      }
      if constexpr (Isa::kWords && std::is_same_v<T, Q12>) {
        if (adjacent(fields, n)) return ffm_pairs_words<Isa, K, true>(r, n, pairs);
        return ffm_pairs_words<Isa, K, false>(r, n, pairs);
      }
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
    if (format == RowFormat::kI16 && n >= kTile && adjacent(fields, n)) {
      const Rows<const Q12> r = {rows, fields};
      if (k == 2) return ffm_pairs_sum_q12<Isa, 2>(r, n);
      if (k == 4) return ffm_pairs_sum_q12<Isa, 4>(r, n);
      if (k == 8) return ffm_pairs_sum_q12<Isa, 8>(r, n);
      if (k == 16) return ffm_pairs_sum_q12<Isa, 16>(r, n);
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
      const auto fixed = [&]<std::size_t K>() {
        if constexpr (Isa::kTiles && !Step::kHasL2) {
          constexpr bool kIntegers = std::is_same_v<T, Q12>;
          if (n >= kTile && adjacent(fields, n)) {
            if constexpr (kIntegers) {
              return ffm_update_pairs_slice_q12<Isa, K>(w, acc, n, delta, rule.rate, noise);
            }
            if constexpr (!kIntegers && (K == 4 || K == 8)) {
              return ffm_update_pairs_slice_tiles<Isa, K>(w, acc, n, delta, step);
            }
          }
        }
        if constexpr (Isa::kWords && !Step::kHasL2 && std::is_same_v<T, Q12>) {
          if (adjacent(fields, n)) {
            return ffm_update_pairs_slice_words<Isa, K, true>(w, acc, n, delta, step, noise);
          }
          return ffm_update_pairs_slice_words<Isa, K, false>(w, acc, n, delta, step, noise);
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
