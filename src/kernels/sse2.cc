/// SSE2, which every x86-64 processor has: four lanes, no fused multiply-add.
#include "kernels/body.h"
#include "kernels/tables.h"

namespace leveret::kernels {
namespace {

struct Sse2 {
  using V = xsimd::batch<float, xsimd::sse2>;
  static constexpr bool kGathers = false, kTiles = false, kWords = false;
  static std::uint64_t delimiter_bits(const char* p) { return generic::delimiter_bits_16<Sse2>(p); }

  /// Two floats, the upper lanes 0. (As integers: reading floats as a double would break the
  /// aliasing rules, and their address need not suit one.)
  static __m128 load_two(const float* p) {
    return _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p)));
  }

  static V load_part(const float* p, std::size_t n) {
    if (n >= 4) return V::load_unaligned(p);
    if (n == 0) return V(0.0f);
    if (n == 1) return _mm_load_ss(p);
    const __m128 low = load_two(p);
    return n == 2 ? low : _mm_movelh_ps(low, _mm_load_ss(p + 2));
  }
  static void store_part(float* p, V v, std::size_t n) {
    if (n >= 4) return v.store_unaligned(p);
    if (n == 0) return;
    if (n == 1) return _mm_store_ss(p, v);
    _mm_storel_pi(reinterpret_cast<__m64*>(p), v);
    if (n == 3) _mm_store_ss(p + 2, _mm_movehl_ps(v, v));
  }

  static __m128i fine(V v) { return _mm_cvtps_epi32(_mm_mul_ps(v, _mm_set1_ps(kFine<Fixed16>))); }
  /// Widens the four in the lower eight bytes.
  static V widen(__m128i four) {
    return _mm_cvtepi32_ps(_mm_srai_epi32(_mm_unpacklo_epi16(four, four), 16));
  }
  /// The upper halves of the lanes, in the lower eight bytes.
  static __m128i narrow(V v) {
    const __m128i upper = _mm_srai_epi32(_mm_castps_si128(v), kBitsLost<Fixed16>);
    return _mm_packs_epi32(upper, upper);
  }
  static V load_int16(const Fixed16* p) {
    return widen(_mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p)));
  }
  static void store_int16(Fixed16* p, V v) {
    _mm_storel_epi64(reinterpret_cast<__m128i_u*>(p), narrow(v));
  }
  static V load_int16_part(const Fixed16* p, std::size_t n) {
    return generic::load_copied<Sse2>(p, n);
  }
  static void store_int16_part(Fixed16* p, V v, std::size_t n) {
    generic::store_copied<Sse2>(p, v, n);
  }

  static V load_bf16(const Bf16* p) {
    const __m128i words = _mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p));
    return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), words));
  }
  static void store_bf16(Bf16* p, V v) {
    _mm_storel_epi64(reinterpret_cast<__m128i_u*>(p), narrow(v));
  }

  static V fma(V a, V b, V c) { return a * b + c; }
  static V fnma(V a, V b, V c) { return c - a * b; }
  static V divide(V a, V b) { return _mm_div_ps(a, b); }
  static V root(V x) { return _mm_sqrt_ps(x); }
  static V log(V x) { return xsimd::log(x); }
  static V exp(V x) { return xsimd::exp(x); }

  static V clamp_normal(V x) { return xsimd::min(xsimd::max(x, V(__FLT_MIN__)), V(__FLT_MAX__)); }
  using Root = generic::RootByBits<Sse2>;

  template <std::size_t K>
  static V spread(const float* p) {
    if constexpr (K == 1) return V::load_unaligned(p);
    if constexpr (K == 2) {
      const __m128 pair = load_two(p);
      return _mm_unpacklo_ps(pair, pair);
    }
    return V(*p);
  }

  /// [a0+a1, a2+a3, b0+b1, b2+b3]
  static V add_pairs(V a, V b) {
    return _mm_add_ps(_mm_shuffle_ps(a, b, 0x88), _mm_shuffle_ps(a, b, 0xdd));
  }
  template <std::size_t K>
  static V slot_sums(const V* r) {
    if constexpr (K == 1) return r[0];
    if constexpr (K == 2) return add_pairs(r[0], r[1]);
    if constexpr (K == 4) return add_pairs(add_pairs(r[0], r[1]), add_pairs(r[2], r[3]));
  }
  static float sum(V v) {
    const __m128 half = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
  }

  template <std::size_t K>
  static V load_slots(const float* const* p) {
    static_assert(K == 2);
    const __m128 low = load_two(p[0]);
    return _mm_loadh_pi(low, reinterpret_cast<const __m64*>(p[1]));
  }
  template <std::size_t K>
  static void store_slots(float* const* p, V v) {
    static_assert(K == 2);
    _mm_storel_pi(reinterpret_cast<__m64*>(p[0]), v);
    _mm_storeh_pi(reinterpret_cast<__m64*>(p[1]), v);
  }
  template <std::size_t K>
  static V load_slots(const Fixed16* const* p) {
    static_assert(K == 2);
    return widen(_mm_unpacklo_epi32(_mm_loadu_si32(p[0]), _mm_loadu_si32(p[1])));
  }
  template <std::size_t K>
  static void store_slots(Fixed16* const* p, V v) {
    static_assert(K == 2);
    const __m128i four = narrow(v);
    _mm_storeu_si32(p[0], four);
    _mm_storeu_si32(p[1], _mm_srli_si128(four, 4));
  }
};

}  // namespace

constinit const Kernels kSse2 = generic::make_table<Sse2>("sse2", &generic::kTextKernels<Sse2>);

}  // namespace leveret::kernels
