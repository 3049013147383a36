/// IEEE 754 binary16, as which FFM weights were stored before they were fixed-point numbers.
#pragma once

#include <bit>
#include <cstdint>

namespace leveret::model {

/// An infinite or NaN half, which only a damaged file holds, reads as some number of at least
/// 65536.
inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = (half & 0x7fffu) << 13;
  // Exponents are 127 - 15 apart; the product is exact.
  return std::bit_cast<float>(
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f) | sign);
}

}  // namespace leveret::model
