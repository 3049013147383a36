/// Hashes, uniform numbers, exp and log that give the same bits on every platform.
///
/// The generator's output is promised to depend on its options alone. std:: distributions and libm
/// differ between libraries; additions, multiplications, divisions and square roots do not (IEEE
/// 754), so everything here is made of those.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace leveret::synth {

/// splitmix64's output function (Steele et al. 2014): a bijection whose bits all depend on x.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// An independent hash of (key, index).
inline std::uint64_t derive(std::uint64_t key, std::uint64_t index) {
  return mix(key + index * 0xd1342543de82ef95u);
}

/// Uniform in [0, 1), 53 bits.
inline double uniform(std::uint64_t hash) { return static_cast<double>(hash >> 11) * 0x1p-53; }

/// 16 bits of a hash, number `lane` (0..3), uniform in (-1, 1).
inline double lane(std::uint64_t hash, int lane) {
  auto bits = static_cast<std::int32_t>((hash >> (16 * lane)) & 0xffff);
  return (bits - 32767.5) * (1.0 / 32768);
}

/// Nearly normal, mean 0, variance 1: the sum of four uniform numbers.
inline double bell(std::uint64_t hash) {
  double sum = lane(hash, 0) + lane(hash, 1) + lane(hash, 2) + lane(hash, 3);
  return sum * 0.8660254037844386;  // sqrt(3) / 2
}

/// e^x for |x| < 700; Taylor after reduction to |r| <= ln(2)/2, relative error below 1e-14.
inline double portable_exp(double x) {
  constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;
  auto n = static_cast<std::int64_t>(x * kLog2E + (x < 0 ? -0.5 : 0.5));
  double r = x - static_cast<double>(n) * kLn2;
  double sum = 1;
  for (int i = 13; i >= 1; --i) sum = 1 + sum * r / i;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

/// Natural logarithm of a normal positive number; 2 atanh((m-1)/(m+1)), error below 1e-13.
inline double portable_log(double x) {
  constexpr double kLn2 = 0.6931471805599453, kSqrt2 = 1.4142135623730951;
  auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  if (m > kSqrt2) {
    m *= 0.5;
    ++exponent;
  }
  double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 1.0 / 17;
  for (int i = 15; i >= 1; i -= 2) sum = sum * s2 + 1.0 / i;
  return static_cast<double>(exponent) * kLn2 + 2 * s * sum;
}

inline double portable_pow(double x, double y) { return portable_exp(portable_log(x) * y); }

inline double sigmoid(double x) {
  if (x > 30) x = 30;
  if (x < -30) x = -30;
  return 1 / (1 + portable_exp(-x));
}

}  // namespace leveret::synth
