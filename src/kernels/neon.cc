/// Advanced SIMD of arm64: four lanes.
#include <arm_neon.h>

#include "kernels/body.h"
#include "kernels/tables.h"

namespace leveret::kernels {
namespace {

struct Neon {
  using V = xsimd::batch<float, xsimd::neon64>;
  static constexpr bool kGathers = false, kTiles = false, kWords = false;
  static std::uint64_t delimiter_bits(const char* p) { return generic::delimiter_bits_16<Neon>(p); }

  static V load_part(const float* p, std::size_t n) { return generic::load_copied<Neon>(p, n); }
  static void store_part(float* p, V v, std::size_t n) { generic::store_copied<Neon>(p, v, n); }

  static V widen(int16x4_t four) { return vcvtq_f32_s32(vmovl_s16(four)); }
  static uint32x4_t fine(V v) {
    return vreinterpretq_u32_s32(vcvtnq_s32_f32(vmulq_n_f32(v, kFine<Fixed16>)));
  }
  /// The upper halves of the lanes.
  static int16x4_t narrow(V v) { return vshrn_n_s32(vreinterpretq_s32_f32(v), kBitsLost<Fixed16>); }
  static V load_int16(const Fixed16* p) {
    return widen(vld1_s16(reinterpret_cast<const std::int16_t*>(p)));
  }
  static void store_int16(Fixed16* p, V v) {
    vst1_s16(reinterpret_cast<std::int16_t*>(p), narrow(v));
  }
  static V load_int16_part(const Fixed16* p, std::size_t n) {
    return generic::load_copied<Neon>(p, n);
  }
  static void store_int16_part(Fixed16* p, V v, std::size_t n) {
    generic::store_copied<Neon>(p, v, n);
  }

  static V load_bf16(const Bf16* p) {
    const uint16x4_t words = vld1_u16(reinterpret_cast<const std::uint16_t*>(p));
    return vreinterpretq_f32_u32(vshll_n_u16(words, kBf16BitsLost));
  }
  static void store_bf16(Bf16* p, V v) { vst1_s16(reinterpret_cast<std::int16_t*>(p), narrow(v)); }

  static V fma(V a, V b, V c) { return vfmaq_f32(c, a, b); }
  static V fnma(V a, V b, V c) { return vfmsq_f32(c, a, b); }
  // xsimd 8.1 makes do with estimates of both here.
  static V divide(V a, V b) { return vdivq_f32(a, b); }
  static V root(V x) { return vsqrtq_f32(x); }
  static V log(V x) { return xsimd::log(x); }
  static V exp(V x) { return xsimd::exp(x); }

  static V clamp_normal(V x) {
    return vminq_f32(vmaxq_f32(x, vdupq_n_f32(__FLT_MIN__)), vdupq_n_f32(__FLT_MAX__));
  }
  /// The processor's estimate has 8 bits, which Arm's manual defines; one step of its own makes
  /// them 16.
  static V rsqrt_guess(V x) {
    const float32x4_t y = vrsqrteq_f32(x);
    return vmulq_f32(y, vrsqrtsq_f32(vmulq_f32(x, y), y));
  }
  using Root = generic::RootByGuess<Neon>;

  template <std::size_t K>
  static V spread(const float* p) {
    if constexpr (K == 1) return V::load_unaligned(p);
    if constexpr (K == 2) {
      const float32x2_t pair = vld1_f32(p);
      return vcombine_f32(vdup_lane_f32(pair, 0), vdup_lane_f32(pair, 1));
    }
    return vdupq_n_f32(*p);
  }

  template <std::size_t K>
  static V slot_sums(const V* r) {
    if constexpr (K == 1) {
      return r[0];
    } else {
      return vpaddq_f32(slot_sums<K / 2>(r), slot_sums<K / 2>(r + K / 2));
    }
  }
  static float sum(V v) { return vaddvq_f32(v); }

  template <std::size_t K>
  static V load_slots(const float* const* p) {
    static_assert(K == 2);
    return vcombine_f32(vld1_f32(p[0]), vld1_f32(p[1]));
  }
  template <std::size_t K>
  static void store_slots(float* const* p, V v) {
    static_assert(K == 2);
    vst1_f32(p[0], vget_low_f32(v));
    vst1_f32(p[1], vget_high_f32(v));
  }
  template <std::size_t K>
  static V load_slots(const Fixed16* const* p) {
    static_assert(K == 2);
    const Fixed16 four[4] = {p[0][0], p[0][1], p[1][0], p[1][1]};
    return load_int16(four);
  }
  template <std::size_t K>
  static void store_slots(Fixed16* const* p, V v) {
    static_assert(K == 2);
    Fixed16 four[4];
    store_int16(four, v);
    for (std::size_t i = 0; i < 4; ++i) p[i / 2][i % 2] = four[i];
  }
};

}  // namespace

constinit const Kernels kNeon = generic::make_table<Neon>("neon", &generic::kTextKernels<Neon>);

}  // namespace leveret::kernels
