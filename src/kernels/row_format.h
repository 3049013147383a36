/// How the weights of an FFM row are stored, and one of them at a time.
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/half.h"

namespace leveret::kernels {

/// How the weights of an FFM row are stored; its accumulators are floats.
enum class RowFormat : std::uint8_t {
  kF32,
  kF16,  ///< Half (half.h), rounded stochastically: the mean of many small steps is kept
};

/// Bytes of one weight.
constexpr std::size_t weight_bytes(RowFormat format) { return format == RowFormat::kF16 ? 2 : 4; }

/// Weight i of a row, which may lie anywhere.
inline float weight_at(RowFormat format, const std::byte* row, std::size_t i) {
  const std::byte* const at = row + i * weight_bytes(format);
  if (format == RowFormat::kF16) {
    Half h;
    std::memcpy(&h, at, sizeof h);
    return to_float(h);
  }
  float w;
  std::memcpy(&w, at, sizeof w);
  return w;
}

/// Stores it; a half is rounded by `noise` (round_to_half), by default to the nearest.
inline void set_weight_at(RowFormat format, std::byte* row, std::size_t i, float w,
                          std::uint32_t noise = kNearest) {
  std::byte* const at = row + i * weight_bytes(format);
  if (format == RowFormat::kF16) {
    const Half h = round_to_half(w, noise);
    std::memcpy(at, &h, sizeof h);
  } else {
    std::memcpy(at, &w, sizeof w);
  }
}

/// set_weight_at for `count` of them that are all smaller than kLargestHalf.
inline void set_small_weights_at(RowFormat format, std::byte* row, std::size_t i, const float* w,
                                 std::size_t count) {
  std::byte* const at = row + i * weight_bytes(format);
  if (format == RowFormat::kF16) {
    for (std::size_t c = 0; c < count; ++c) {
      const Half h = nearest_half_within(w[c]);
      std::memcpy(at + c * sizeof h, &h, sizeof h);
    }
  } else {
    std::memcpy(at, w, count * sizeof *w);
  }
}

}  // namespace leveret::kernels
