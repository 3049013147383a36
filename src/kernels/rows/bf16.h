/// bfloat16, the short form of an FFM accumulator: the upper half of a float, rounded
/// stochastically, so that sums that grow by less than a unit grow by as much in the mean. One
/// number at a time, for what reads or writes few of them and as the reference of the kernels.
#pragma once

#include <bit>
#include <cstdint>

namespace leveret::kernels {

struct Bf16 {
  std::uint16_t bits;
};

inline constexpr int kBf16BitsLost = 16;

inline float to_float(Bf16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << kBf16BitsLost);
}

/// Towards 0 after `noise`, of which the upper 16 bits count, was added to the bits that are lost.
/// With all noises equally likely the mean of the results is x, and what has a short form already
/// stays as it is. What is within a unit of the largest number may become infinite.
inline Bf16 round_to_bf16(float x, std::uint32_t noise) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x) + (noise >> kBf16BitsLost);
  return {static_cast<std::uint16_t>(bits >> kBf16BitsLost)};
}

}  // namespace leveret::kernels
