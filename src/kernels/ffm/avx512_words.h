/// Registers of 32 weights in 16 bits, for pairs_int16_body.h and, of pairs_words_body.h, the way
/// forward.
///
/// A side of a tile is four rows of four slots of K weights in K / 2 registers: a register holds
/// half a row (K = 16), one (K = 8), two (K = 4) or all four of them (K = 2), slot by slot.
#pragma once

#include <immintrin.h>

#include "kernels/ffm/int16_factor.h"
#include "kernels/ffm/x86_int16.h"
#include "kernels/rows/fixed.h"

namespace leveret::kernels {

/// A template on the including file's `Isa`, so that no other file shares its code.
template <class Isa>
struct Words512 {
  using W = __m512i;

  static W load(const Fixed16* p) { return _mm512_loadu_si512(p); }
  /// Slots of K weights; slot s is at p[s].
  template <std::size_t K>
  static W load_slots(const Fixed16* const* p) {
    if constexpr (K == 16) return together(load_256(p[0]), load_256(p[1]));
    if constexpr (K < 16) {
      constexpr std::size_t kEight = 8 / K;
      return together(
          together(load_eight<Isa, K>(p), load_eight<Isa, K>(p + kEight)),
          together(load_eight<Isa, K>(p + 2 * kEight), load_eight<Isa, K>(p + 3 * kEight)));
    }
  }
  /// Register e of a side whose rows' slots are at `rows`.
  template <std::size_t K>
  static W load_slots(const Fixed16* const* rows, std::size_t e) {
    if constexpr (K == 16) return _mm512_loadu_si512(rows[e / 2] + e % 2 * 32);
    if constexpr (K == 8) return _mm512_loadu_si512(rows[e]);
    if constexpr (K == 4) return together(load_256(rows[2 * e]), load_256(rows[2 * e + 1]));
    if constexpr (K == 2) {
      return together(together(load_128(rows[0]), load_128(rows[1])),
                      together(load_128(rows[2]), load_128(rows[3])));
    }
  }
  template <std::size_t K>
  static void store_slots(Fixed16* const* rows, std::size_t e, W w) {
    if constexpr (K == 16) _mm512_storeu_si512(rows[e / 2] + e % 2 * 32, w);
    if constexpr (K == 8) _mm512_storeu_si512(rows[e], w);
    if constexpr (K == 4) {
      store_256(rows[2 * e], _mm512_castsi512_si256(w));
      store_256(rows[2 * e + 1], _mm512_extracti64x4_epi64(w, 1));
    }
    if constexpr (K == 2) {
      store_128(rows[0], _mm512_castsi512_si128(w));
      store_128(rows[1], _mm512_extracti32x4_epi32(w, 1));
      store_128(rows[2], _mm512_extracti32x4_epi32(w, 2));
      store_128(rows[3], _mm512_extracti32x4_epi32(w, 3));
    }
  }

  /// Slot s of row r becomes slot r of row s.
  template <std::size_t K>
  static void transpose(const W* w, W* t) {
    if constexpr (K == 16) {
      for (int s = 0; s < 4; s += 2) {  // two slots are in one register
        const W *const low = w + s / 2, *const high = w + 4 + s / 2;
        t[2 * s] = _mm512_shuffle_i64x2(low[0], low[2], 0x44);
        t[2 * s + 1] = _mm512_shuffle_i64x2(high[0], high[2], 0x44);
        t[2 * s + 2] = _mm512_shuffle_i64x2(low[0], low[2], 0xee);
        t[2 * s + 3] = _mm512_shuffle_i64x2(high[0], high[2], 0xee);
      }
    }
    if constexpr (K == 8) {
      const W low01 = _mm512_shuffle_i32x4(w[0], w[1], 0x44);
      const W high01 = _mm512_shuffle_i32x4(w[0], w[1], 0xee);
      const W low23 = _mm512_shuffle_i32x4(w[2], w[3], 0x44);
      const W high23 = _mm512_shuffle_i32x4(w[2], w[3], 0xee);
      t[0] = _mm512_shuffle_i32x4(low01, low23, 0x88);
      t[1] = _mm512_shuffle_i32x4(low01, low23, 0xdd);
      t[2] = _mm512_shuffle_i32x4(high01, high23, 0x88);
      t[3] = _mm512_shuffle_i32x4(high01, high23, 0xdd);
    }
    if constexpr (K == 4) {
      const W first = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13);
      const W second = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
      t[0] = _mm512_permutex2var_epi64(w[0], first, w[1]);
      t[1] = _mm512_permutex2var_epi64(w[0], second, w[1]);
    }
    if constexpr (K == 2) {
      const W places = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
      t[0] = _mm512_permutexvar_epi32(places, w[0]);
    }
  }
  /// Sums of the products of neighbours, in units squared: K / 2 of them in a slot.
  static __m512 pair_products(W a, W b) {
    const W bounded = _mm512_max_epi16(a, _mm512_set1_epi16(kLeastFactorWord));
    return _mm512_cvtepi32_ps(_mm512_madd_epi16(bounded, b));
  }
  /// pair_products(a, a): without a sign everything fits.
  static __m512 pair_squares(W a) { return _mm512_cvtepu32_ps(_mm512_madd_epi16(a, a)); }

  /// kFactorScale t, |t| < 2, rounded down after `noise`, of [0, 1), was added.
  static W to_factors(__m512 t, __m512 noise) {
    return _mm512_cvt_roundps_epi32(_mm512_fmadd_ps(t, _mm512_set1_ps(kFactorScale), noise),
                                    _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  }
  /// The factors of register e of a side, out of sixteen, in all places of their slots.
  template <std::size_t K>
  static W spread(W factors, std::size_t e) {
    // The words of 32 bits of which the lower ones are the factors.
    constexpr int kPerRegister = 32 / K;
    alignas(64) static constexpr auto kPlaces = [] {
      struct {
        std::int16_t at[K / 2][32];
      } places{};
      for (int r = 0; r < static_cast<int>(K) / 2; ++r) {
        for (int l = 0; l < 32; ++l) {
          places.at[r][l] =
              static_cast<std::int16_t>(2 * (r * kPerRegister + l / static_cast<int>(K)));
        }
      }
      return places;
    }();
    return _mm512_permutexvar_epi16(_mm512_load_si512(kPlaces.at[e]), factors);
  }
  /// weights - factors * contra / 2^16, of which the part below the point becomes 1 where it is
  /// above the noise, else 0.
  static W move(W weights, W factors, W contra, W noise) {
    const W upper = _mm512_mulhi_epi16(factors, contra);
    const W lower = _mm512_mullo_epi16(factors, contra);
    const __mmask32 carry = _mm512_cmpgt_epu16_mask(lower, noise);
    // Saturating additions have one port, others two.
    return _mm512_subs_epi16(weights, _mm512_mask_add_epi16(upper, carry, upper, ones()));
  }

 private:
  /// In a register: GCC would make it anew for each side of a tile, on the port that shuffles need.
  static W ones() {
    W one = _mm512_set1_epi16(1);
    asm("" : "+v"(one));
    return one;
  }
  static __m256i together(__m128i low, __m128i high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  }
  static W together(__m256i low, __m256i high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  }
  static __m256i load_256(const Fixed16* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p));
  }
  static __m128i load_128(const Fixed16* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p));
  }
  static void store_256(Fixed16* p, __m256i v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p), v);
  }
  static void store_128(Fixed16* p, __m128i v) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p), v);
  }
};

}  // namespace leveret::kernels
