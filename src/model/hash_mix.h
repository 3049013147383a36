/// Mixing of keys: where a key starts probing, and the random numbers of initial weights.
#pragma once

#include <cstdint>

namespace leveret::model {

/// splitmix64's finaliser (Steele, Lea and Flood 2014).
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Slot where the 32-bit key starts in a table of 2^bits slots. Feature hashes are murmur already,
/// but numeric names are not, so one multiplication spreads them (Fibonacci hashing).
inline std::uint32_t first_slot(std::uint32_t key, std::uint32_t bits) {
  return bits == 0 ? 0
                   : static_cast<std::uint32_t>(
                         (static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

}  // namespace leveret::model
