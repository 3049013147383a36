/// How the weights and accumulators of an FFM row are stored, and one of them at a time.
#pragma once

#include <cstddef>
#include <cstring>

#include "kernels/bf16.h"
#include "kernels/q12.h"

namespace leveret::kernels {

/// How an FFM row is stored. Accumulators, one per weight, are floats in either format.
enum class RowFormat : std::uint8_t {
  kF32,
  /// Weights are Q12 (q12.h), accumulators of slots Bf16 (bf16.h), both rounded stochastically: the
  /// mean of many small steps is kept.
  kI16,
};

/// Bytes of one weight.
constexpr std::size_t weight_bytes(RowFormat format) { return format == RowFormat::kI16 ? 2 : 4; }

/// Bytes of the accumulator of a slot.
constexpr std::size_t slice_bytes(RowFormat format) { return format == RowFormat::kI16 ? 2 : 4; }

/// Weight i of a row, which may lie anywhere.
inline float weight_at(RowFormat format, const std::byte* row, std::size_t i) {
  const std::byte* const at = row + i * weight_bytes(format);
  if (format == RowFormat::kI16) {
    Q12 w;
    std::memcpy(&w, at, sizeof w);
    return to_float(w);
  }
  float w;
  std::memcpy(&w, at, sizeof w);
  return w;
}

/// Stores it; a fixed-point number is rounded by `noise` (round_to_q12), by default to the
/// nearest.
inline void set_weight_at(RowFormat format, std::byte* row, std::size_t i, float w,
                          std::uint32_t noise = kNearest) {
  std::byte* const at = row + i * weight_bytes(format);
  if (format == RowFormat::kI16) {
    const Q12 rounded = round_to_q12(w, noise);
    std::memcpy(at, &rounded, sizeof rounded);
  } else {
    std::memcpy(at, &w, sizeof w);
  }
}

/// set_weight_at for `count` of them.
inline void set_weights_at(RowFormat format, std::byte* row, std::size_t i, const float* w,
                           std::size_t count) {
  std::byte* const at = row + i * weight_bytes(format);
  if (format == RowFormat::kI16) {
    for (std::size_t c = 0; c < count; ++c) {
      const Q12 rounded = round_to_q12(w[c], kNearest);
      std::memcpy(at + c * sizeof rounded, &rounded, sizeof rounded);
    }
  } else {
    std::memcpy(at, w, count * sizeof *w);
  }
}

/// Accumulator i of a row's slots.
inline float slice_at(RowFormat format, const std::byte* accs, std::size_t i) {
  const std::byte* const at = accs + i * slice_bytes(format);
  if (format == RowFormat::kI16) {
    Bf16 acc;
    std::memcpy(&acc, at, sizeof acc);
    return to_float(acc);
  }
  float acc;
  std::memcpy(&acc, at, sizeof acc);
  return acc;
}

inline void set_slice_at(RowFormat format, std::byte* accs, std::size_t i, float acc,
                         std::uint32_t noise = kNearest) {
  std::byte* const at = accs + i * slice_bytes(format);
  if (format == RowFormat::kI16) {
    const Bf16 rounded = round_to_bf16(acc, noise);
    std::memcpy(at, &rounded, sizeof rounded);
  } else {
    std::memcpy(at, &acc, sizeof acc);
  }
}

}  // namespace leveret::kernels
