/// How an array of numbers is stored, and one of them at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/rows/bf16.h"
#include "kernels/rows/fixed.h"

namespace leveret::kernels {

/// How the numbers of one array are stored. What has fewer than 32 bits is rounded stochastically
/// where it is written, so that the mean of many small steps is kept.
struct Codec {
  enum class Kind : std::uint8_t {
    kNone,  ///< not at all: reads as 0
    kF32,   ///< float
    kBf16,  ///< Bf16 (bf16.h)
    /// Codes of 16 (Fixed16), 12, 8 (Fixed8) or 4 bits, in two's complement. Two codes of 12 bits
    /// are in three bytes, and two of 4 in one, the first in the lower bits; of these arrays have
    /// an even number.
    kFixed,
    /// A float, the scale, and codes behind it that it multiplies: of 8 bits, or of 4, two in a
    /// byte, the first in its lower half. Rows of exports, which nobody learns.
    kScaled,
  };
  Kind kind = Kind::kNone;
  std::uint8_t bits = 0;  ///< of one number: 32, 16, 12, 8 or 4; 0 for kNone
  /// kFixed: code c stands for c * 2^-shift; -100 to 100, so that all on the way is a normal float.
  std::int8_t shift = 0;
  /// kFixed: rounded to the nearest where it is written, whatever the noise, so that steps below
  /// half a unit are lost (FixQ of the SIGMOD paper on quantized training; the default is its
  /// StocQ).
  bool nearest = false;

  static constexpr Codec none() { return {}; }
  static constexpr Codec f32() { return {Kind::kF32, 32, 0}; }
  static constexpr Codec bf16() { return {Kind::kBf16, 16, 0}; }
  static constexpr Codec fixed(int bits, int shift) {
    return {Kind::kFixed, static_cast<std::uint8_t>(bits), static_cast<std::int8_t>(shift)};
  }

  static constexpr Codec scaled(int bits) {
    return {Kind::kScaled, static_cast<std::uint8_t>(bits), 0};
  }

  constexpr bool is_fixed(int of_bits) const { return kind == Kind::kFixed && bits == of_bits; }
  /// Fewer bits than kernels take rows of in place.
  constexpr bool is_narrow() const { return kind == Kind::kFixed && bits < 16; }
  /// The codec of Kernels::widen's copies, of which kernels take rows; itself where none are
  /// needed.
  constexpr Codec widened() const {
    if (is_scaled()) return fixed(16, 0);
    Codec wide = *this;
    if (is_narrow()) wide.bits = 16;
    return wide;
  }
  /// Whether two numbers share a byte, of which each has its own half.
  constexpr bool in_pairs() const { return kind == Kind::kFixed && bits % 8 != 0; }
  constexpr bool is_scaled() const { return kind == Kind::kScaled; }
  /// Bytes that an array of `count` numbers takes.
  constexpr std::size_t bytes(std::size_t count) const {
    return (is_scaled() ? kScaleBytes : 0) + code_bytes(count);
  }
  /// Without a scale.
  constexpr std::size_t code_bytes(std::size_t count) const { return (count * bits + 7) / 8; }
  static constexpr std::size_t kScaleBytes = sizeof(float);
  /// kFixed: the largest code. kScaled: codes are at most this in magnitude.
  constexpr int largest_code() const { return (1 << (bits - 1)) - 1; }
  /// kFixed: 2^-shift, what codes count, and its inverse.
  constexpr float unit() const { return power_of_two(-shift); }
  constexpr float units_in_one() const { return power_of_two(shift); }
  /// kFixed: the ends of the range.
  constexpr float smallest() const { return -unit() * static_cast<float>(1 << (bits - 1)); }
  constexpr float largest() const { return unit() * static_cast<float>(largest_code()); }

  bool operator==(const Codec&) const = default;

 private:
  static constexpr float power_of_two(int exponent) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(127 + exponent) << 23);
  }
};

/// Whether kernels take rows of such weights as they lie; others are decoded first.
constexpr bool in_registers(Codec weights) {
  return weights == Codec::f32() || weights.is_fixed(16);
}
/// Whether they step them so, with such accumulators: floats with floats, and fixed point of 16
/// bits with bf16. Of others the weights and accumulators are decoded, stepped as floats, and
/// encoded.
constexpr bool in_registers(Codec weights, Codec state) {
  return in_registers(weights) && !weights.nearest &&
         state == (weights.is_fixed(16) ? Codec::bf16() : Codec::f32());
}

/// The shift of weights: 16 bits reach from -8 to just below 8.
inline constexpr int kDefaultShift = 12;

/// A T that may lie anywhere.
template <class T>
inline T load_unaligned(const std::byte* at) {
  T x;
  std::memcpy(&x, at, sizeof x);
  return x;
}
template <class T>
inline void store_unaligned(std::byte* at, T x) {
  std::memcpy(at, &x, sizeof x);
}

/// Code i of an array of codes (kFixed, kScaled: those behind the scale), which may be unaligned.
inline int code_at(Codec codec, const std::byte* codes, std::size_t i) {
  switch (codec.bits) {
    case 16:
      return load_unaligned<std::int16_t>(codes + 2 * i);
    case 12: {
      const std::byte* const at = codes + i / 2 * 3 + i % 2;
      const auto both = load_unaligned<std::uint16_t>(at);
      return static_cast<std::int16_t>(i % 2 == 0 ? both << 4 : both) >> 4;
    }
    case 8:
      return load_unaligned<std::int8_t>(codes + i);
    default: {
      const auto byte = std::to_integer<std::uint8_t>(codes[i / 2]);
      return static_cast<std::int8_t>(i % 2 == 0 ? byte << 4 : byte & 0xf0) >> 4;
    }
  }
}
/// The reverse. A code that shares a byte leaves its other half as it is.
inline void put_code(Codec codec, std::byte* codes, std::size_t i, int code) {
  switch (codec.bits) {
    case 16:
      return store_unaligned(codes + 2 * i, static_cast<std::int16_t>(code));
    case 12: {
      std::byte* const at = codes + i / 2 * 3 + i % 2;
      const unsigned both = load_unaligned<std::uint16_t>(at), bits = code & 0xfff;
      return store_unaligned(at, static_cast<std::uint16_t>(i % 2 == 0 ? (both & 0xf000) | bits
                                                                       : (both & 0xf) | bits << 4));
    }
    case 8:
      return store_unaligned(codes + i, static_cast<std::int8_t>(code));
    default: {
      const unsigned both = std::to_integer<unsigned>(codes[i / 2]), bits = code & 0xf;
      codes[i / 2] =
          static_cast<std::byte>(i % 2 == 0 ? (both & 0xf0) | bits : (both & 0xf) | bits << 4);
    }
  }
}

/// Number i of an array, which may be unaligned.
inline float decode(Codec codec, const std::byte* array, std::size_t i) {
  if (codec.is_scaled()) {
    const int code = code_at(codec, array + Codec::kScaleBytes, i);
    return load_unaligned<float>(array) * static_cast<float>(code);
  }
  switch (codec.kind) {
    case Codec::Kind::kNone:
      return 0;
    case Codec::Kind::kF32:
      return load_unaligned<float>(array + i * sizeof(float));
    case Codec::Kind::kBf16:
      return to_float(load_unaligned<Bf16>(array + i * sizeof(Bf16)));
    case Codec::Kind::kFixed:
    case Codec::Kind::kScaled:
      break;
  }
  return static_cast<float>(code_at(codec, array, i)) * codec.unit();
}

/// Stores it where numbers are written one at a time (not kScaled), rounded by `noise` (fixed.h,
/// bf16.h), by default to the nearest.
inline void encode(Codec codec, std::byte* array, std::size_t i, float value,
                   std::uint32_t noise = kNearest) {
  switch (codec.kind) {
    case Codec::Kind::kNone:
      return;
    case Codec::Kind::kF32:
      return store_unaligned(array + i * sizeof(float), value);
    case Codec::Kind::kBf16:
      return store_unaligned(array + i * sizeof(Bf16), round_to_bf16(value, noise));
    case Codec::Kind::kScaled:
      return;
    case Codec::Kind::kFixed:
      break;
  }
  const float units = value * codec.units_in_one();
  put_code(codec, array, i, round_to_code(codec.bits, units, codec.nearest ? kNearest : noise));
}

/// Stores `count` of them from number `first` on, each rounded to the nearest.
inline void encode_all(Codec codec, std::byte* array, std::size_t first, const float* values,
                       std::size_t count) {
  if (codec.kind == Codec::Kind::kF32) {
    if (count != 0) std::memcpy(array + codec.bytes(first), values, count * sizeof(float));
  } else if (codec.is_fixed(16)) {
    // A loop of its own, which compilers turn into one of several numbers at once.
    std::byte* const to = array + codec.bytes(first);
    const float scale = codec.units_in_one();
    for (std::size_t i = 0; i < count; ++i) {
      store_unaligned(to + i * sizeof(Fixed16),
                      round_to_fixed<Fixed16>(values[i] * scale, kNearest));
    }
  } else {
    for (std::size_t i = 0; i < count; ++i) encode(codec, array, first + i, values[i]);
  }
}

}  // namespace leveret::kernels
