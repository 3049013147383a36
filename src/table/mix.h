/// Mixing of keys: the random numbers of initial weights.
#pragma once

#include <cstdint>

namespace leveret::table {

/// splitmix64's finaliser (Steele, Lea and Flood 2014).
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace leveret::table
