/// IEEE 754 binary16, the short form of an FFM weight, one number at a time.
///
/// For what reads or writes few of them, and as the reference of the kernels: no instruction set is
/// assumed. Numbers from 2^-14 to 65504 have 11 bits; smaller ones are multiples of 2^-24. What is
/// larger than 65504, infinity too, becomes 65504; NaN stays NaN, which no file takes. An infinite
/// or NaN half, which only a damaged file holds, may read as any number of at least 65536.
#pragma once

#include <bit>
#include <cstdint>

namespace leveret::kernels {

struct Half {
  std::uint16_t bits;
};

inline constexpr float kLargestHalf = 65504.0f;
inline constexpr Half kNanHalf = {0x7e00};
/// Bits of a float's fraction that a half has not.
inline constexpr int kBitsLost = 13;
/// The noise that rounds to the nearest, ties away from zero.
inline constexpr std::uint32_t kNearest = 0x80000000u;

inline float to_float(Half h) {
  const std::uint32_t sign = (h.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = (h.bits & 0x7fffu) << kBitsLost;
  // Exponents are 127 - 15 apart; the product is exact.
  return std::bit_cast<float>(
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f) | sign);
}

/// Towards zero, of the bits of a float whose magnitude is below 2^16.
inline Half cut_to_half(std::uint32_t bits) {
  const float magnitude = std::bit_cast<float>(bits & 0x7fffffffu);
  const std::uint32_t h = std::bit_cast<std::uint32_t>(magnitude * 0x1p-112f) >> kBitsLost;
  return {static_cast<std::uint16_t>(h | bits >> 31 << 15)};
}

/// Towards zero.
inline Half truncate_to_half(float x) {
  if (x != x) return kNanHalf;
  if (!(x < kLargestHalf)) x = kLargestHalf;
  if (!(x > -kLargestHalf)) x = -kLargestHalf;
  return cut_to_half(std::bit_cast<std::uint32_t>(x));
}

/// Towards zero after `noise`, of which the upper 13 bits count, was added to the bits that are
/// lost. With all noises equally likely the mean of the results is x (stochastic rounding; up to
/// 2^-24 for |x| < 2^-14), and what is a half already stays as it is.
inline Half round_to_half(float x, std::uint32_t noise) {
  if (!(x < kLargestHalf && x > -kLargestHalf)) return truncate_to_half(x);
  return truncate_to_half(
      std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + (noise >> (32 - kBitsLost))));
}

inline Half nearest_half(float x) { return round_to_half(x, kNearest); }
/// The same for |x| < kLargestHalf, without a branch.
inline Half nearest_half_within(float x) {
  return cut_to_half(std::bit_cast<std::uint32_t>(x) + (kNearest >> (32 - kBitsLost)));
}

}  // namespace leveret::kernels
