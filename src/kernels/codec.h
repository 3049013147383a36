/// How an array of numbers is stored, and one of them at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/bf16.h"
#include "kernels/fixed.h"

namespace leveret::kernels {

/// How the numbers of one array are stored. What has fewer than 32 bits is rounded stochastically
/// where it is written, so that the mean of many small steps is kept.
struct Codec {
  enum class Kind : std::uint8_t {
    kNone,   ///< not at all: reads as 0
    kF32,    ///< float
    kBf16,   ///< Bf16 (bf16.h)
    kFixed,  ///< Fixed16 or Fixed8 (fixed.h)
    /// A float, the scale, and codes behind it that it multiplies: of 8 bits, or of 4, two in a
    /// byte, the first in its lower half. Rows of exports, which nobody learns.
    kScaled,
  };
  Kind kind = Kind::kNone;
  std::uint8_t bits = 0;  ///< of one number: 32, 16, 8 or 4; 0 for kNone
  /// kFixed: code c stands for c * 2^-shift; -100 to 100, so that all on the way is a normal float.
  std::int8_t shift = 0;

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
  constexpr bool is_scaled() const { return kind == Kind::kScaled; }
  /// Bytes that an array of `count` numbers takes.
  constexpr std::size_t bytes(std::size_t count) const {
    return is_scaled() ? kScaleBytes + code_bytes(count) : count * (bits / 8u);
  }
  /// kScaled: of its codes alone.
  constexpr std::size_t code_bytes(std::size_t count) const { return (count * bits + 7) / 8; }
  static constexpr std::size_t kScaleBytes = sizeof(float);
  /// kScaled: codes are at most this in magnitude.
  constexpr int largest_code() const { return (1 << (bits - 1)) - 1; }
  /// kFixed: 2^-shift, what codes count, and its inverse.
  constexpr float unit() const { return power_of_two(-shift); }
  constexpr float units_in_one() const { return power_of_two(shift); }
  /// kFixed: the ends of the range.
  constexpr float smallest() const {
    return unit() * (bits == 8 ? kSmallestCode<Fixed8> : kSmallestCode<Fixed16>);
  }
  constexpr float largest() const {
    return unit() * (bits == 8 ? kLargestCode<Fixed8> : kLargestCode<Fixed16>);
  }

  bool operator==(const Codec&) const = default;

 private:
  static constexpr float power_of_two(int exponent) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(127 + exponent) << 23);
  }
};

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

/// kScaled: code i of `codes`, which stand behind the scale.
inline int code_at(Codec codec, const std::byte* codes, std::size_t i) {
  if (codec.bits == 8) return load_unaligned<std::int8_t>(codes + i);
  const auto byte = std::to_integer<std::uint8_t>(codes[i / 2]);
  return static_cast<std::int8_t>(i % 2 == 0 ? byte << 4 : byte & 0xf0) >> 4;
}

/// Number i of an array, which may be unaligned.
inline float decode(Codec codec, const std::byte* array, std::size_t i) {
  if (codec.is_scaled()) {
    const int code = code_at(codec, array + Codec::kScaleBytes, i);
    return load_unaligned<float>(array) * static_cast<float>(code);
  }
  const std::byte* const at = array + codec.bytes(i);
  switch (codec.kind) {
    case Codec::Kind::kNone:
      return 0;
    case Codec::Kind::kF32:
      return load_unaligned<float>(at);
    case Codec::Kind::kBf16:
      return to_float(load_unaligned<Bf16>(at));
    case Codec::Kind::kFixed:
    case Codec::Kind::kScaled:
      break;
  }
  const int code =
      codec.bits == 8 ? load_unaligned<Fixed8>(at).code : load_unaligned<Fixed16>(at).code;
  return static_cast<float>(code) * codec.unit();
}

/// Stores it where numbers are written one at a time (not kScaled), rounded by `noise` (fixed.h,
/// bf16.h), by default to the nearest.
inline void encode(Codec codec, std::byte* array, std::size_t i, float value,
                   std::uint32_t noise = kNearest) {
  std::byte* const at = array + codec.bytes(i);
  switch (codec.kind) {
    case Codec::Kind::kNone:
      return;
    case Codec::Kind::kF32:
      return store_unaligned(at, value);
    case Codec::Kind::kBf16:
      return store_unaligned(at, round_to_bf16(value, noise));
    case Codec::Kind::kScaled:
      return;
    case Codec::Kind::kFixed:
      break;
  }
  const float units = value * codec.units_in_one();
  if (codec.bits == 8) {
    store_unaligned(at, round_to_fixed<Fixed8>(units, noise));
  } else {
    store_unaligned(at, round_to_fixed<Fixed16>(units, noise));
  }
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
