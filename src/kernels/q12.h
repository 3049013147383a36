/// 16-bit fixed point, the short form of an FFM weight, one number at a time.
///
/// For what reads or writes few of them, and as the reference of the kernels: no instruction set is
/// assumed. A weight is a multiple of 2^-12 from -8 to just below 8, and what is beyond becomes the
/// nearest of these. All weights having one unit, a register takes twice as many of them as of
/// floats, and their products are taken as integers (pairs_q12_body.h). NaN becomes any of them:
/// the accumulator of a weight that would be NaN is not finite either, and no file takes that.
#pragma once

#include <cstdint>

namespace leveret::kernels {

struct Q12 {
  std::int16_t units;
};

inline constexpr float kQ12Unit = 0x1p-12f;
inline constexpr float kSmallestQ12 = -32768 * kQ12Unit;
inline constexpr float kLargestQ12 = 32767 * kQ12Unit;
/// On its way to a weight a number is a multiple of 2^-28 in 32 bits: the upper half is the weight,
/// the lower one what rounding decides about.
inline constexpr int kQ12BitsLost = 16;
inline constexpr float kQ12Fine = 0x1p28f;
/// The noise that rounds to the nearest, ties upwards.
inline constexpr std::uint32_t kNearest = 0x80000000u;

inline float to_float(Q12 w) { return static_cast<float>(w.units) * kQ12Unit; }

/// Downwards after `noise`, of which the upper 16 bits count, was added to the bits that are lost.
/// With all noises equally likely the mean of the results is x within 2^-28 (stochastic rounding),
/// and what is a multiple of the unit already stays as it is. Without a branch, so that compilers
/// convert several at once.
inline Q12 round_to_q12(float x, std::uint32_t noise) {
  x = x < kLargestQ12 ? x : kLargestQ12;
  x = x > kSmallestQ12 ? x : kSmallestQ12;
  const auto fine = static_cast<std::int32_t>(x * kQ12Fine);
  const auto added = static_cast<std::int32_t>(noise >> kQ12BitsLost);
  return {static_cast<std::int16_t>((fine + added) >> kQ12BitsLost)};
}

inline Q12 nearest_q12(float x) { return round_to_q12(x, kNearest); }

}  // namespace leveret::kernels
