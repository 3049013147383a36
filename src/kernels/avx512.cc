/// AVX-512 (F, CD, DQ, BW, VL): sixteen lanes, masks for the tails.
#include "kernels/body.h"
#include "kernels/ffm/avx512_words.h"
#include "kernels/ffm/x86_int16.h"
#include "kernels/tables.h"
#include "kernels/text/avx512_text.h"

namespace leveret::kernels {
namespace {

struct Avx512 {
  using V = xsimd::batch<float, xsimd::avx512bw>;

  /// The lanes below n.
  static __mmask16 mask(std::size_t n) { return static_cast<__mmask16>((1u << n) - 1u); }
  static V load_part(const float* p, std::size_t n) { return _mm512_maskz_loadu_ps(mask(n), p); }
  static void store_part(float* p, V v, std::size_t n) { _mm512_mask_storeu_ps(p, mask(n), v); }

  static __m512i fine(V v) { return _mm512_cvtps_epi32(_mm512_mul_ps(v, V(kFine<Fixed16>))); }
  static V widen(__m256i v) { return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(v)); }
  /// The upper halves of the lanes.
  static __m256i narrow(V v) {
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(v), kBitsLost<Fixed16>));
  }
  static V load_int16(const Fixed16* p) {
    return widen(_mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p)));
  }
  static void store_int16(Fixed16* p, V v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p), narrow(v));
  }
  static V load_int16_part(const Fixed16* p, std::size_t n) {
    return widen(_mm256_maskz_loadu_epi16(mask(n), p));
  }
  /// Without masked stores of 16-bit numbers where slots of 4 or 8 allow it: some processors take
  /// dozens of cycles for one.
  static void store_int16_part(Fixed16* p, V v, std::size_t n) {
    const __m256i all = narrow(v);
    if (n % 4 != 0) {
      _mm256_mask_storeu_epi16(p, mask(n), all);
      return;
    }
    if (n == 16) {
      _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p), all);
      return;
    }
    __m128i rest = _mm256_castsi256_si128(all);
    if (n >= 8) {
      _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p), rest);
      rest = _mm256_extracti128_si256(all, 1);
      p += 8;
    }
    if (n % 8 == 4) _mm_storel_epi64(reinterpret_cast<__m128i_u*>(p), rest);
  }

  static V load_bf16(const Bf16* p) {
    const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(words), kBf16BitsLost));
  }
  static void store_bf16(Bf16* p, V v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(p), narrow(v));
  }

  // xsimd 8.1 multiplies and adds in two steps here.
  static V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  static V fnma(V a, V b, V c) { return _mm512_fnmadd_ps(a, b, c); }
  static V divide(V a, V b) { return _mm512_div_ps(a, b); }
  static V root(V x) { return _mm512_sqrt_ps(x); }

  /// Half a register at a time: xsimd 8.1 has no fused multiply-add of whole ones, later versions
  /// have, and the last digit is to be the same.
  using Half = xsimd::batch<float, xsimd::fma3<xsimd::avx2>>;
  template <class F>
  static V by_halves(V x, F&& f) {
    const Half low = f(Half(_mm512_castps512_ps256(x)));
    const Half high = f(Half(_mm512_extractf32x8_ps(x, 1)));
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
  }
  static V log(V x) {
    return by_halves(x, [](Half half) { return xsimd::log(half); });
  }
  static V exp(V x) {
    return by_halves(x, [](Half half) { return xsimd::exp(half); });
  }

  /// One instruction: zero and infinity become the largest number, everything else stays. Denormal
  /// numbers need no help from rsqrt14, and a step from an accumulator of zero is g * tiny.
  static V clamp_normal(V x) {
    // Responses of vfixupimm by kind of number, four bits each: 14 is the largest float.
    constexpr int kZero = 2, kPlusInfinity = 5;
    const __m512i responses = _mm512_set1_epi32(14 << (4 * kZero) | 14 << (4 * kPlusInfinity));
    return _mm512_fixupimm_ps(x, x, responses, 0);
  }
  /// Unlike rsqrtps it is defined to the last bit, by a reference program that Intel's manual names
  /// ("Reference Implementations for Intel Architecture Approximation Instructions"). A Zen 5 and a
  /// Xeon gave the same digits.
  static V rsqrt_guess(V x) { return _mm512_rsqrt14_ps(x); }
  using Root = generic::RootByGuess<Avx512>;

  /// Two floats, the upper lanes 0. (As integers: reading floats as a double would break the
  /// aliasing rules, and their address need not suit one.)
  static __m128 load_two(const float* p) {
    return _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p)));
  }

  template <std::size_t K>
  static V spread(const float* p) {
    if constexpr (K == 1) return V::load_unaligned(p);
    if constexpr (K == 2) {
      const __m512i index = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
      return _mm512_permutexvar_ps(index, _mm512_castps256_ps512(_mm256_loadu_ps(p)));
    }
    if constexpr (K == 4) {
      const __m512i index = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
      return _mm512_permutevar_ps(_mm512_broadcast_f32x4(_mm_loadu_ps(p)), index);
    }
    if constexpr (K == 8) {
      const __m512i index = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
      const __m512d two = _mm512_broadcastsd_pd(_mm_castps_pd(load_two(p)));
      return _mm512_permutevar_ps(_mm512_castpd_ps(two), index);
    }
    return V(*p);
  }

  /// [a0+a1, a2+a3, …, b0+b1, b2+b3, …]
  static __m512 add_pairs(__m512 a, __m512 b) {
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_add_ps(_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b));
  }
  template <std::size_t K>
  static V slot_sums(const V* r) {
    if constexpr (K == 1) {
      return r[0];
    } else {
      return add_pairs(slot_sums<K / 2>(r), slot_sums<K / 2>(r + K / 2));
    }
  }
  /// transpose_4x4 of slot_sums, K = 1, 2, 4 and 8, without another shuffle.
  template <std::size_t K>
  static V slot_sums_transposed(const V* r) {
    if constexpr (K == 8) {
      const V fours[4] = {add_quarters(r[0], r[1]), add_quarters(r[2], r[3]),
                          add_quarters(r[4], r[5]), add_quarters(r[6], r[7])};
      return slot_sums_transposed<4>(fours);
    } else if constexpr (K == 4) {
      const __m512 low = add_neighbours(r[0], r[1]), high = add_neighbours(r[2], r[3]);
      return add_neighbours(low, high);
    } else if constexpr (K == 1) {
      return transpose_4x4(r[0]);
    } else {
      static_assert(K == 2);
      const __m512i even =
          _mm512_setr_epi32(0, 8, 16, 24, 2, 10, 18, 26, 4, 12, 20, 28, 6, 14, 22, 30);
      const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
      return _mm512_add_ps(_mm512_permutex2var_ps(r[0], even, r[1]),
                           _mm512_permutex2var_ps(r[0], odd, r[1]));
    }
  }
  /// Each quarter becomes [a0+a1, a2+a3, b0+b1, b2+b3].
  static __m512 add_neighbours(__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
  }
  /// Quarters [a0+a1, a2+a3, b0+b1, b2+b3]
  static __m512 add_quarters(__m512 a, __m512 b) {
    return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
  }
  static float sum(V v) { return _mm512_reduce_add_ps(v); }

  template <std::size_t K>
  static V load_slots(const float* const* p) {
    if constexpr (K == 8) {
      const __m512 low = _mm512_castps256_ps512(_mm256_loadu_ps(p[0]));
      return _mm512_insertf32x8(low, _mm256_loadu_ps(p[1]), 1);
    }
    if constexpr (K == 4) {
      __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(p[0]));
      v = _mm512_insertf32x4(v, _mm_loadu_ps(p[1]), 1);
      v = _mm512_insertf32x4(v, _mm_loadu_ps(p[2]), 2);
      return _mm512_insertf32x4(v, _mm_loadu_ps(p[3]), 3);
    }
    if constexpr (K == 2) {
      __m512 v = _mm512_castps128_ps512(two_slots(p[0], p[1]));
      v = _mm512_insertf32x4(v, two_slots(p[2], p[3]), 1);
      v = _mm512_insertf32x4(v, two_slots(p[4], p[5]), 2);
      return _mm512_insertf32x4(v, two_slots(p[6], p[7]), 3);
    }
  }
  static __m128 two_slots(const float* a, const float* b) {
    const __m128 low = load_two(a);
    return _mm_loadh_pi(low, reinterpret_cast<const __m64*>(b));
  }
  template <std::size_t K>
  static void store_slots(float* const* p, V v) {
    if constexpr (K == 8) {
      _mm256_storeu_ps(p[0], _mm512_castps512_ps256(v));
      _mm256_storeu_ps(p[1], _mm512_extractf32x8_ps(v, 1));
    }
    if constexpr (K == 4) {
      _mm_storeu_ps(p[0], _mm512_castps512_ps128(v));
      _mm_storeu_ps(p[1], _mm512_extractf32x4_ps(v, 1));
      _mm_storeu_ps(p[2], _mm512_extractf32x4_ps(v, 2));
      _mm_storeu_ps(p[3], _mm512_extractf32x4_ps(v, 3));
    }
    if constexpr (K == 2) {
      store_two_slots(p[0], p[1], _mm512_castps512_ps128(v));
      store_two_slots(p[2], p[3], _mm512_extractf32x4_ps(v, 1));
      store_two_slots(p[4], p[5], _mm512_extractf32x4_ps(v, 2));
      store_two_slots(p[6], p[7], _mm512_extractf32x4_ps(v, 3));
    }
  }
  static void store_two_slots(float* a, float* b, __m128 v) {
    _mm_storel_pi(reinterpret_cast<__m64*>(a), v);
    _mm_storeh_pi(reinterpret_cast<__m64*>(b), v);
  }

  template <std::size_t K>
  static V load_slots(const Fixed16* const* p) {
    const __m256i low = _mm256_castsi128_si256(load_eight<Avx512, K>(p));
    const __m128i high = load_eight<Avx512, K>(p + 8 / K);
    return widen(_mm256_inserti128_si256(low, high, 1));
  }
  template <std::size_t K>
  static void store_slots(Fixed16* const* p, V v) {
    const __m256i all = narrow(v);
    store_eight<Avx512, K>(p, _mm256_castsi256_si128(all));
    store_eight<Avx512, K>(p + 8 / K, _mm256_extracti128_si256(all, 1));
  }

  // ---- pairs of floats, and fours, at 16 places (gather_scatter_body.h) ----

  static constexpr bool kGathers = true;
  /// Whether the first n places differ. Those apart by a multiple of 4 GiB count as equal.
  static bool differ(float* const* p, std::size_t n) {
    const __m256i low = _mm512_cvtepi64_epi32(_mm512_loadu_si512(p));
    const __m256i high = _mm512_cvtepi64_epi32(_mm512_loadu_si512(p + 8));
    const __m512i earlier =
        _mm512_conflict_epi32(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
    const __mmask16 any = _mm512_mask_test_epi32_mask(mask(n), earlier, earlier);
    return _mm512_kortestz(any, any);
  }
  static void gather_pairs(float* const* p, V& first, V& second) {
    const __m512 even = four_pairs(p), odd = four_pairs(p + 2);
    first = _mm512_shuffle_ps(even, odd, 0x88);
    second = _mm512_shuffle_ps(even, odd, 0xdd);
  }
  static void scatter_pairs(float* const* p, V first, V second) {
    store_four_pairs(p, _mm512_unpacklo_ps(first, second));
    store_four_pairs(p + 2, _mm512_unpackhi_ps(first, second));
  }
  /// Pairs at places 0, 1, 4, 5, 8, 9, 12 and 13.
  static __m512 four_pairs(float* const* p) {
    __m512 v = _mm512_castps128_ps512(two_slots(p[0], p[1]));
    v = _mm512_insertf32x4(v, two_slots(p[4], p[5]), 1);
    v = _mm512_insertf32x4(v, two_slots(p[8], p[9]), 2);
    return _mm512_insertf32x4(v, two_slots(p[12], p[13]), 3);
  }
  static void store_four_pairs(float* const* p, __m512 v) {
    store_two_slots(p[0], p[1], _mm512_castps512_ps128(v));
    store_two_slots(p[4], p[5], _mm512_extractf32x4_ps(v, 1));
    store_two_slots(p[8], p[9], _mm512_extractf32x4_ps(v, 2));
    store_two_slots(p[12], p[13], _mm512_extractf32x4_ps(v, 3));
  }

  static void gather_cells(float* const* p, V* c) {
    __m512 places[4];  // 0, 4, 8 and 12, and so on
    for (int i = 0; i < 4; ++i) {
      const float* const every_fourth[4] = {p[i], p[i + 4], p[i + 8], p[i + 12]};
      places[i] = load_fours(every_fourth);
    }
    transpose_fours(places, c);
  }
  static void scatter_cells(float* const* p, const V* c) {
    const __m512 numbers[4] = {c[0], c[1], c[2], c[3]};
    V places[4];
    transpose_fours(numbers, places);
    for (int i = 0; i < 4; ++i) {
      float* const every_fourth[4] = {p[i], p[i + 4], p[i + 8], p[i + 12]};
      store_fours(every_fourth, places[i]);
    }
  }
  /// Four by four within each quarter of the registers.
  static void transpose_fours(const __m512* from, V* to) {
    const __m512d low01 = _mm512_castps_pd(_mm512_unpacklo_ps(from[0], from[1]));
    const __m512d low23 = _mm512_castps_pd(_mm512_unpacklo_ps(from[2], from[3]));
    const __m512d high01 = _mm512_castps_pd(_mm512_unpackhi_ps(from[0], from[1]));
    const __m512d high23 = _mm512_castps_pd(_mm512_unpackhi_ps(from[2], from[3]));
    to[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(low01, low23));
    to[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low01, low23));
    to[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(high01, high23));
    to[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(high01, high23));
  }

  // ---- tiles of 4 x 4 pairs (pairs_int16_body.h) ----

  static constexpr bool kTiles = true, kWords = false;
  using Words = Words512<Avx512>;
  static __mmask8 mask_of_four(std::size_t n) { return static_cast<__mmask8>((1u << n) - 1u); }
  /// Four floats at each of four places.
  static V load_fours(const float* const* p) {
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(p[0]));
    v = _mm512_insertf32x4(v, _mm_loadu_ps(p[1]), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps(p[2]), 2);
    return _mm512_insertf32x4(v, _mm_loadu_ps(p[3]), 3);
  }
  static void store_fours(float* const* p, V v) {
    _mm_storeu_ps(p[0], _mm512_castps512_ps128(v));
    _mm_storeu_ps(p[1], _mm512_extractf32x4_ps(v, 1));
    _mm_storeu_ps(p[2], _mm512_extractf32x4_ps(v, 2));
    _mm_storeu_ps(p[3], _mm512_extractf32x4_ps(v, 3));
  }
  /// Four accumulators at each of four places; stored are the upper halves of the lanes.
  static V load_fours(const Bf16* const* p) {
    const __m256i words = _mm256_inserti128_si256(_mm256_castsi128_si256(two_fours(p[0], p[1])),
                                                  two_fours(p[2], p[3]), 1);
    const __m512i upper = _mm512_setr_epi32(0x00000000, 0x00010000, 0x00020000, 0x00030000,  //
                                            0x00040000, 0x00050000, 0x00060000, 0x00070000,  //
                                            0x00080000, 0x00090000, 0x000a0000, 0x000b0000,  //
                                            0x000c0000, 0x000d0000, 0x000e0000, 0x000f0000);
    return _mm512_castsi512_ps(
        _mm512_maskz_permutexvar_epi16(0xaaaaaaaa, upper, _mm512_castsi256_si512(words)));
  }
  static void store_fours(Bf16* const* p, V v) {
    // One instruction where narrow takes two or three.
    const __m512i upper = _mm512_setr_epi32(0x00030001, 0x00070005, 0x000b0009, 0x000f000d,  //
                                            0x00130011, 0x00170015, 0x001b0019, 0x001f001d,  //
                                            0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i words =
        _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, _mm512_castps_si512(v)));
    store_two_fours(p[0], p[1], _mm256_castsi256_si128(words));
    store_two_fours(p[2], p[3], _mm256_extracti128_si256(words, 1));
  }
  static __m128i two_fours(const Bf16* a, const Bf16* b) {
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(a));
    return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(low), reinterpret_cast<const __m64*>(b)));
  }
  static void store_two_fours(Bf16* a, Bf16* b, __m128i v) {
    _mm_storel_epi64(reinterpret_cast<__m128i_u*>(a), v);
    _mm_storeh_pi(reinterpret_cast<__m64*>(b), _mm_castsi128_ps(v));
  }
  /// Floats s of place r for first <= s < r in lanes 4 r + s, the others 0.
  static V load_triangle(const float* const* p, std::size_t first) {
    const auto part = [&](std::size_t r) {
      const auto before = static_cast<__mmask8>(~mask_of_four(first));
      return _mm_maskz_loadu_ps(mask_of_four(r) & before, p[r]);
    };
    __m512 v = _mm512_setzero_ps();
    v = _mm512_insertf32x4(v, part(1), 1);
    v = _mm512_insertf32x4(v, part(2), 2);
    return _mm512_insertf32x4(v, part(3), 3);
  }
  /// Stores its first r lanes, and 0 behind them, at each place r.
  static void store_triangle(float* const* p, V v) {
    const __m512 below = _mm512_maskz_mov_ps(0x7310, v);
    for (std::size_t r = 0; r < 4; ++r) {
      const __mmask16 row = static_cast<__mmask16>(mask(r + 1) << (4 * r));
      _mm512_mask_storeu_ps(p[r] - 4 * r, row, below);
    }
  }
  /// a or b or c, bit by bit.
  static V any_of(V a, V b, V c) {
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_castps_si512(a), _mm512_castps_si512(b), _mm512_castps_si512(c), 0xfe));
  }
  /// Whether v, or numbers that are v by any_of, are all below 2 in magnitude; NaN is not.
  static bool all_below_two(V v) {
    const __mmask16 above =
        _mm512_test_epi32_mask(_mm512_castps_si512(v), _mm512_set1_epi32(0x40000000));
    return _mm512_kortestz(above, above);
  }
  /// Lane 4 r + s becomes lane 4 s + r.
  static V transpose_4x4(V v) {
    const __m512i index = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_ps(index, v);
  }
};

}  // namespace

constinit const Kernels kAvx512 = generic::make_table<Avx512>("avx512", &kTextKernels512<Avx512>);

}  // namespace leveret::kernels
