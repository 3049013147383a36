/// The order of keys in a file (leveret-model(5), P keys): by mixed value, equal ones by key.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace leveret::store {

constexpr std::uint64_t kMixer = 0x9e3779b97f4a7c15;

/// Upper half of key * kMixer; what table::mixed_value is.
constexpr std::uint32_t mixed_value(std::uint32_t key) {
  return static_cast<std::uint32_t>(key * kMixer >> 32);
}

/// The place of a key in the order of all keys: comparable as a number.
constexpr std::uint64_t key_place(std::uint32_t key) {
  return std::uint64_t{mixed_value(key)} << 32 | key;
}

/// Visits the keys with this mixed value, in ascending order: one on average. In a few steps: the
/// points (key, key * kMixer mod 2^64) are a lattice, of which the searched ones lie in a square.
template <class Visit>
void keys_of_mixed_value(std::uint32_t mixed, Visit&& visit);

namespace key_lattice {

struct Vector {
  std::int64_t key, product;  ///< product = key * kMixer, modulo 2^64
};

constexpr Vector vector_of(std::int64_t key) {
  return {key, static_cast<std::int64_t>(static_cast<std::uint64_t>(key) * kMixer)};
}

/// Two short vectors that span the lattice (C. F. Gauss). Lengths below 2^33.
struct Basis {
  Vector a, b;
};

constexpr Basis make_basis() {
  // Euclid's algorithm on 2^64 and kMixer gives vectors whose products get smaller as their keys
  // grow; where both are about 2^32, two neighbours are a short basis.
  __extension__ using Wide = __int128;
  Wide product_a = (Wide{1} << 64), product_b = kMixer, key_a = 0, key_b = 1;
  while (key_b < (Wide{1} << 32) && product_b > (Wide{1} << 31)) {
    const Wide quotient = product_a / product_b;
    const Wide product = product_a - quotient * product_b, key = key_a - quotient * key_b;
    product_a = product_b, key_a = key_b;
    product_b = product, key_b = key;
    if (key_b < 0 ? -key_b >= (Wide{1} << 32) : key_b >= (Wide{1} << 32)) break;
  }
  return {{static_cast<std::int64_t>(key_a), static_cast<std::int64_t>(product_a)},
          {static_cast<std::int64_t>(key_b), static_cast<std::int64_t>(product_b)}};
}

constexpr Basis kBasis = make_basis();
static_assert(vector_of(kBasis.a.key).product == kBasis.a.product);
static_assert(vector_of(kBasis.b.key).product == kBasis.b.product);

constexpr double length(std::int64_t n) { return static_cast<double>(n < 0 ? -n : n); }

/// The first whole number that is not below middle - reach.
inline std::int64_t first_within(double middle, double reach) {
  return static_cast<std::int64_t>(std::ceil(middle - reach));
}

}  // namespace key_lattice

template <class Visit>
void keys_of_mixed_value(std::uint32_t mixed, Visit&& visit) {
  using namespace key_lattice;
  // The square's middle in coordinates of the basis; its points are within reach of it.
  constexpr double kArea = 18446744073709551616.0;  // 2^64
  constexpr double kSign =
      static_cast<double>(kBasis.a.key) * static_cast<double>(kBasis.b.product) -
                  static_cast<double>(kBasis.b.key) * static_cast<double>(kBasis.a.product) >
              0
          ? 1
          : -1;
  const double key = 2147483648.0, product = (mixed + 0.5) * 4294967296.0;
  constexpr double kHalfSide = 2147483648.0;
  constexpr double kReachU =
      kHalfSide * (length(kBasis.b.product) + length(kBasis.b.key)) / kArea + 1e-3;
  constexpr double kReachV =
      kHalfSide * (length(kBasis.a.product) + length(kBasis.a.key)) / kArea + 1e-3;
  static_assert(kReachU < 1.5 && kReachV < 1.5, "at most 3 x 3 points to look at");
  const double u =
      kSign *
      (key * static_cast<double>(kBasis.b.product) - product * static_cast<double>(kBasis.b.key)) /
      kArea;
  const double v =
      kSign *
      (product * static_cast<double>(kBasis.a.key) - key * static_cast<double>(kBasis.a.product)) /
      kArea;
  std::array<std::uint32_t, 16> found;
  std::size_t count = 0;
  for (std::int64_t i = first_within(u, kReachU); static_cast<double>(i) <= u + kReachU; ++i) {
    for (std::int64_t j = first_within(v, kReachV); static_cast<double>(j) <= v + kReachV; ++j) {
      const std::int64_t candidate = i * kBasis.a.key + j * kBasis.b.key;
      if (candidate < 0 || candidate > 0xffffffff) continue;
      const auto k = static_cast<std::uint32_t>(candidate);
      if (mixed_value(k) == mixed && count < found.size()) found[count++] = k;
    }
  }
  std::sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; i < count; ++i) visit(found[i]);
}

}  // namespace leveret::store
