/// Registers of 16 weights in 16 bits, for pairs_words_body.h.
#pragma once

#include <immintrin.h>

#include "kernels/ffm/int16_factor.h"
#include "kernels/ffm/x86_int16.h"
#include "kernels/lanes.h"

namespace leveret::kernels {

/// A template on the including file's `Isa`, so that no other file shares its code.
template <class Isa>
struct Words256 {
  using W = __m256i;
  using V = xsimd::batch<float, xsimd::fma3<xsimd::avx2>>;

  static W load(const Fixed16* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p));
  }
  static void store(Fixed16* p, W w) { _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p), w); }
  /// Slots of K weights; slot s is at p[s].
  template <std::size_t K>
  static W load_slots(const Fixed16* const* p) {
    if constexpr (K == 16) return load(p[0]);
    if constexpr (K < 16) return together(load_eight<Isa, K>(p), load_eight<Isa, K>(p + 8 / K));
  }
  template <std::size_t K>
  static void store_slots(Fixed16* const* p, W w) {
    if constexpr (K == 16) store(p[0], w);
    if constexpr (K < 16) {
      store_eight<Isa, K>(p, _mm256_castsi256_si128(w));
      store_eight<Isa, K>(p + 8 / K, _mm256_extracti128_si256(w, 1));
    }
  }

  static W bounded(W w) { return _mm256_max_epi16(w, _mm256_set1_epi16(kLeastFactorWord)); }
  /// Sums of the products of neighbours, in units squared: K / 2 of them in a slot.
  static V pair_products(W a, W b) { return _mm256_cvtepi32_ps(_mm256_madd_epi16(bounded(a), b)); }
  static V pair_squares(W a) { return pair_products(a, bounded(a)); }
  /// kFactorScale t, |t| < 2, rounded down after `noise`, of [0, 1), was added: twice in each lane.
  static V to_factors(V t, V noise) {
    const __m256 floor = _mm256_floor_ps(_mm256_fmadd_ps(t, _mm256_set1_ps(kFactorScale), noise));
    const W factors = _mm256_cvtps_epi32(floor);
    return _mm256_castsi256_ps(_mm256_blend_epi16(factors, _mm256_slli_epi32(factors, 16), 0xaa));
  }
  /// weights - factors * contra / 2^16, rounded down after noise was added.
  static W move(W weights, V factors, W contra, W noise) {
    const W f = _mm256_castps_si256(factors);
    const W upper = _mm256_mulhi_epi16(f, contra);
    const W lower = _mm256_add_epi16(_mm256_mullo_epi16(f, contra), noise);
    // There was a carry where the sum is smaller than the noise: of numbers without sign, which are
    // those of noise with another first bit, as fits noise as well.
    const W carry = _mm256_cmpgt_epi16(noise, lower);
    return _mm256_subs_epi16(weights, _mm256_sub_epi16(upper, carry));
  }

 private:
  static W together(__m128i low, __m128i high) { return _mm256_set_m128i(high, low); }
};

}  // namespace leveret::kernels
