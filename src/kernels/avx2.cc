/// AVX2 with FMA: eight lanes.
#include "kernels/body.h"
#include "kernels/ffm/avx2_words.h"
#include "kernels/tables.h"

namespace leveret::kernels {
namespace {

struct Avx2 {
  using V = xsimd::batch<float, xsimd::fma3<xsimd::avx2>>;
  static constexpr bool kGathers = false, kTiles = false, kWords = true;
  using Words = Words256<Avx2>;

  static std::uint32_t delimiter_bits_32(const char* p) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p));
    const auto is = [bytes](char c) { return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c)); };
    const __m256i blank = _mm256_or_si256(is(' '), _mm256_or_si256(is('\t'), is('\n')));
    const __m256i found = _mm256_or_si256(blank, _mm256_or_si256(is('|'), is(':')));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(found));
  }
  static std::uint64_t delimiter_bits(const char* p) {
    return delimiter_bits_32(p) | std::uint64_t{delimiter_bits_32(p + 32)} << 32;
  }

  /// The lanes below n.
  static __m256i mask(std::size_t n) {
    alignas(32) static constexpr std::int32_t kMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMasks + 8 - n));
  }
  static V load_part(const float* p, std::size_t n) { return _mm256_maskload_ps(p, mask(n)); }
  static void store_part(float* p, V v, std::size_t n) { _mm256_maskstore_ps(p, mask(n), v); }

  static __m256i fine(V v) { return _mm256_cvtps_epi32(_mm256_mul_ps(v, V(kFine<Fixed16>))); }
  static V widen(__m128i v) { return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(v)); }
  /// The upper halves of the lanes.
  static __m128i narrow(V v) {
    const __m256i upper = _mm256_srai_epi32(_mm256_castps_si256(v), kBitsLost<Fixed16>);
    return _mm_packs_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
  }
  static V load_int16(const Fixed16* p) {
    return widen(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p)));
  }
  static void store_int16(Fixed16* p, V v) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p), narrow(v));
  }
  static V load_int16_part(const Fixed16* p, std::size_t n) {
    return generic::load_copied<Avx2>(p, n);
  }
  static void store_int16_part(Fixed16* p, V v, std::size_t n) {
    generic::store_copied<Avx2>(p, v, n);
  }

  static V load_bf16(const Bf16* p) {
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words), kBf16BitsLost));
  }
  static void store_bf16(Bf16* p, V v) {
    _mm_storeu_si128(reinterpret_cast<__m128i_u*>(p), narrow(v));
  }

  static V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  static V fnma(V a, V b, V c) { return _mm256_fnmadd_ps(a, b, c); }
  static V divide(V a, V b) { return _mm256_div_ps(a, b); }
  static V root(V x) { return _mm256_sqrt_ps(x); }
  static V log(V x) { return xsimd::log(x); }
  static V exp(V x) { return xsimd::exp(x); }

  /// Whether both are below 2 in magnitude in all lanes; NaN is not.
  static bool all_below_two(V a, V b) {
    const __m256i exponents = _mm256_slli_epi32(_mm256_castps_si256(_mm256_or_ps(a, b)), 1);
    return _mm256_movemask_ps(_mm256_castsi256_ps(exponents)) == 0;
  }
  static V clamp_normal(V x) { return xsimd::min(xsimd::max(x, V(__FLT_MIN__)), V(__FLT_MAX__)); }
  using Root = generic::RootByBits<Avx2>;

  /// Two floats, the upper lanes 0. (As integers: reading floats as a double would break the
  /// aliasing rules, and their address need not suit one.)
  static __m128 load_two(const float* p) {
    return _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p)));
  }

  template <std::size_t K>
  static V spread(const float* p) {
    if constexpr (K == 1) return V::load_unaligned(p);
    if constexpr (K == 2) {
      const __m256 four = _mm256_broadcast_ps(reinterpret_cast<const __m128*>(p));
      return _mm256_permutevar_ps(four, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
    }
    if constexpr (K == 4) {
      const __m256d two = _mm256_broadcastsd_pd(_mm_castps_pd(load_two(p)));
      return _mm256_permutevar_ps(_mm256_castpd_ps(two), _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));
    }
    return V(*p);
  }

  /// Within each 128-bit half: [a0+a1, a2+a3, b0+b1, b2+b3]
  static __m256 add_pairs(__m256 a, __m256 b) {
    return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
  }
  /// [sum of a's halves, sum of b's halves]
  static __m256 add_halves(__m256 a, __m256 b) {
    return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
  }
  template <std::size_t K>
  static V slot_sums(const V* r) {
    if constexpr (K == 1) return r[0];
    if constexpr (K == 2) {
      const __m256d sums = _mm256_castps_pd(add_pairs(r[0], r[1]));
      return _mm256_castpd_ps(_mm256_permute4x64_pd(sums, 0xd8));
    }
    if constexpr (K == 4) {
      const __m256 sums = add_pairs(add_pairs(r[0], r[1]), add_pairs(r[2], r[3]));
      return _mm256_permutevar8x32_ps(sums, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    }
    if constexpr (K == 8) {
      return add_pairs(add_pairs(add_halves(r[0], r[4]), add_halves(r[1], r[5])),
                       add_pairs(add_halves(r[2], r[6]), add_halves(r[3], r[7])));
    }
  }
  static float sum(V v) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 half = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
  }

  template <std::size_t K>
  static V load_slots(const float* const* p) {
    if constexpr (K == 4) return _mm256_loadu2_m128(p[1], p[0]);
    if constexpr (K == 2) return _mm256_set_m128(two_slots(p[2], p[3]), two_slots(p[0], p[1]));
  }
  static __m128 two_slots(const float* a, const float* b) {
    const __m128 low = load_two(a);
    return _mm_loadh_pi(low, reinterpret_cast<const __m64*>(b));
  }
  template <std::size_t K>
  static void store_slots(float* const* p, V v) {
    const __m128 low = _mm256_castps256_ps128(v);
    const __m128 high = _mm256_extractf128_ps(v, 1);
    if constexpr (K == 4) {
      _mm_storeu_ps(p[0], low);
      _mm_storeu_ps(p[1], high);
    } else {
      _mm_storel_pi(reinterpret_cast<__m64*>(p[0]), low);
      _mm_storeh_pi(reinterpret_cast<__m64*>(p[1]), low);
      _mm_storel_pi(reinterpret_cast<__m64*>(p[2]), high);
      _mm_storeh_pi(reinterpret_cast<__m64*>(p[3]), high);
    }
  }
  template <std::size_t K>
  static V load_slots(const Fixed16* const* p) {
    return widen(load_eight<Avx2, K>(p));
  }
  template <std::size_t K>
  static void store_slots(Fixed16* const* p, V v) {
    store_eight<Avx2, K>(p, narrow(v));
  }
};

}  // namespace

constinit const Kernels kAvx2 = generic::make_table<Avx2>("avx2", &generic::kTextKernels<Avx2>);

}  // namespace leveret::kernels
