/// Registers of 16 weights in 16 bits, for pairs_words_body.h.
#pragma once

#include <immintrin.h>

#include "kernels/lanes.h"
#include "kernels/x86_q12.h"

namespace leveret::kernels {

/// A template on the including file's `Isa`, so that no other file shares its code.
template <class Isa>
struct Words256 {
  using W = __m256i;
  using V = xsimd::batch<float, xsimd::fma3<xsimd::avx2>>;

  static W load(const Q12* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p)); }
  static void store(Q12* p, W w) { _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p), w); }
  /// Slots that fill the K places which a register has for each; slot s is at p[s].
  template <std::size_t K>
  struct WholeSlots {
    static constexpr std::size_t kPlaces = K;
    static constexpr bool kFill = true;
    static constexpr std::size_t length() { return K; }

    static W load(const Q12* const* p) {
      if constexpr (K == 16) return Words256::load(p[0]);
      if constexpr (K < 16) return together(eight_q12<Isa, K>(p), eight_q12<Isa, K>(p + 8 / K));
    }
    static void store(Q12* const* p, W w) {
      if constexpr (K == 16) Words256::store(p[0], w);
      if constexpr (K < 16) {
        store_eight<Isa, K>(p, _mm256_castsi256_si128(w));
        store_eight<Isa, K>(p + 8 / K, _mm256_extracti128_si256(w, 1));
      }
    }
  };

  /// Shorter slots, K / 2 < k < K: in a register zeros stand behind each. K = 4, 8 and 16. A slot
  /// is read and written as its first and its last K / 2 weights.
  template <std::size_t K>
  class PartSlots {
   public:
    static constexpr std::size_t kPlaces = K;
    static constexpr bool kFill = false;
    std::size_t length() const { return length_; }

    explicit PartSlots(std::size_t k) : length_(k) {
      const int behind = static_cast<int>(K - k), before = static_cast<int>(k - K / 2);
      if constexpr (K == 8) {
        behind_ = _mm_cvtsi32_si128(16 * behind);
        before_ = _mm_cvtsi32_si128(16 * before);
      }
      if constexpr (K == 16) {
        down_ = bytes_moved(2 * behind);
        up_ = bytes_moved(-2 * behind);
        first_down_ = bytes_moved(2 * before);
      }
    }
    W load(const Q12* const* p) const {
      if constexpr (K == 16) {
        return together(load_eight(p[0]), _mm_shuffle_epi8(load_eight(p[0] + length_ - 8), down_));
      }
      if constexpr (K == 8) return together(eight(p[0]), eight(p[1]));
      if constexpr (K == 4) {
        return together(_mm_unpacklo_epi64(four(p[0]), four(p[1])),
                        _mm_unpacklo_epi64(four(p[2]), four(p[3])));
      }
    }
    void store(Q12* const* p, W w) const {
      const __m128i low = _mm256_castsi256_si128(w), high = _mm256_extracti128_si256(w, 1);
      if constexpr (K == 16) {
        const __m128i last =
            _mm_or_si128(_mm_shuffle_epi8(low, first_down_), _mm_shuffle_epi8(high, up_));
        _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p[0]), low);
        _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p[0] + length_ - 8), last);
      }
      if constexpr (K == 8) {
        store_one(p[0], low);
        store_one(p[1], high);
      }
      if constexpr (K == 4) {
        store_two(p, low);
        store_two(p + 2, high);
      }
    }

   private:
    /// Moves bytes down by n places, or up by -n; zeros follow.
    static __m128i bytes_moved(int n) {
      static constexpr std::int8_t kFrom[48] = {
          -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,  //
          0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,  //
          -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
      return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(kFrom + 16 + n));
    }
    static __m128i load_eight(const Q12* p) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p));
    }
    static __m128i load_four(const Q12* p) {
      return _mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p));
    }
    __m128i eight(const Q12* p) const {
      return _mm_unpacklo_epi64(load_four(p), _mm_srl_epi64(load_four(p + length_ - 4), behind_));
    }
    /// Three weights.
    static __m128i four(const Q12* p) {
      return _mm_unpacklo_epi32(_mm_loadu_si32(p), _mm_srli_epi32(_mm_loadu_si32(p + 1), 16));
    }
    void store_one(Q12* p, __m128i v) const {
      const __m128i last =
          _mm_or_si128(_mm_srl_epi64(v, before_), _mm_sll_epi64(_mm_unpackhi_epi64(v, v), behind_));
      _mm_storel_epi64(reinterpret_cast<__m128i_u*>(p), v);
      _mm_storel_epi64(reinterpret_cast<__m128i_u*>(p + length_ - 4), last);
    }
    /// Twice three weights.
    static void store_two(Q12* const* p, __m128i v) {
      const __m128i last = _mm_srli_epi64(v, 16);
      _mm_storeu_si32(p[0], v);
      _mm_storeu_si32(p[0] + 1, last);
      _mm_storeu_si32(p[1], _mm_unpackhi_epi64(v, v));
      _mm_storeu_si32(p[1] + 1, _mm_unpackhi_epi64(last, last));
    }

    std::size_t length_;
    __m128i behind_{}, before_{};  ///< K = 8: bits of the places behind, of the first weights alone
    __m128i down_{}, up_{}, first_down_{};  ///< K = 16: where bytes come from
  };

  /// Of four times -8 a sum of products would not fit.
  static W bounded(W w) { return _mm256_max_epi16(w, _mm256_set1_epi16(-32767)); }
  /// Sums of the products of neighbours, in units squared: K / 2 of them in a slot.
  static V pair_products(W a, W b) { return _mm256_cvtepi32_ps(_mm256_madd_epi16(bounded(a), b)); }
  static V pair_squares(W a) { return pair_products(a, bounded(a)); }
  /// f * 2^14 rounded down after `noise`, of [0, 1), was added, |f| < 2: twice in each lane. By
  /// 6e-5 less, so that a word holds it.
  static V to_factors(V f, V noise) {
    const __m256 floor = _mm256_floor_ps(_mm256_fmadd_ps(f, _mm256_set1_ps(16383), noise));
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
