/// Fixed-point numbers of 16 and 8 bits, one at a time: a number is a code times a unit that all
/// numbers of an array share (codec.h).
///
/// For what reads or writes few of them, and as the reference of the kernels: no instruction set is
/// assumed. All numbers having one unit, a register takes twice as many of 16 bits as of floats,
/// and their products are taken as integers (pairs_int16_body.h).
#pragma once

#include <cstdint>
#include <limits>

namespace leveret::kernels {

struct Fixed16 {
  std::int16_t code;
};
struct Fixed8 {
  std::int8_t code;
};

template <class Fixed>
inline constexpr float kSmallestCode = std::numeric_limits<decltype(Fixed::code)>::min();
template <class Fixed>
inline constexpr float kLargestCode = std::numeric_limits<decltype(Fixed::code)>::max();

/// On its way to a code a number is an integer of 32 bits: the upper ones are the code, these lower
/// ones what rounding decides about.
template <class Fixed>
inline constexpr int kBitsLost = 32 - 8 * static_cast<int>(sizeof(Fixed));
/// Turns units into that integer.
template <class Fixed>
inline constexpr float kFine = static_cast<float>(1u << kBitsLost<Fixed>);

/// The noise that rounds to the nearest, ties upwards.
inline constexpr std::uint32_t kNearest = 0x80000000u;

/// The code of a number of so many bits: rounds x, in units, downwards after `noise`, of which the
/// upper bits count, was added to the bits that are lost. With all noises equally likely the mean
/// of the results is x within 2^(bits - 32) (stochastic rounding), and an integer stays as it is.
/// A number beyond the codes becomes the nearest of them, and NaN any: the accumulator of a weight
/// that would be NaN is not finite either, and no file takes that. Without a branch, so that
/// compilers convert several at once.
inline std::int32_t round_to_code(int bits, float x, std::uint32_t noise) {
  const auto end = static_cast<float>(1u << (bits - 1));
  x = x < end - 1.0f ? x : end - 1.0f;
  x = x > -end ? x : -end;
  const auto fine = static_cast<std::int32_t>(x * static_cast<float>(1u << (32 - bits)));
  const auto added = static_cast<std::int32_t>(noise >> bits);
  return (fine + added) >> (32 - bits);
}
template <class Fixed>
inline Fixed round_to_fixed(float x, std::uint32_t noise) {
  constexpr int kBits = 8 * static_cast<int>(sizeof(Fixed));
  return {static_cast<decltype(Fixed::code)>(round_to_code(kBits, x, noise))};
}

}  // namespace leveret::kernels
