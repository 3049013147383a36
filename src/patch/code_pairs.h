/// Codes that share bytes, two by two: those of 4 bits in one byte, of 12 in three (store::Dtype).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace leveret::patch {

constexpr bool in_pairs(unsigned bits) { return bits % 8 != 0; }

/// Both codes of a pair, the first in the lower bits.
inline std::uint32_t load_pair(const std::byte* from, unsigned bits) {
  std::uint32_t both = 0;
  for (unsigned b = 0; b < bits / 4; ++b) both |= std::to_integer<std::uint32_t>(from[b]) << 8 * b;
  return both;
}

/// Calls visit(code) for each of the codes in so many bytes.
template <class Visit>
void for_each_of_pairs(const std::byte* from, std::uint64_t bytes, unsigned bits, Visit&& visit) {
  for (std::uint64_t at = 0; at < bytes; at += bits / 4) {
    const std::uint32_t both = load_pair(from + at, bits);
    visit(both & ((1u << bits) - 1));
    visit(both >> bits);
  }
}

/// Each code as a T of its own.
template <class T>
std::vector<std::byte> unpack(const std::byte* from, std::uint64_t bytes, unsigned bits) {
  std::vector<std::byte> codes;
  codes.reserve(bytes * 8 / bits * sizeof(T));
  for_each_of_pairs(from, bytes, bits, [&](std::uint32_t code) {
    for (std::size_t b = 0; b < sizeof(T); ++b) codes.push_back(std::byte(code >> 8 * b & 0xff));
  });
  return codes;
}

template <class T>
void pack(const std::vector<std::byte>& codes, std::byte* to, unsigned bits) {
  const std::uint32_t mask = (1u << bits) - 1;
  for (std::size_t at = 0; at + 2 * sizeof(T) <= codes.size(); at += 2 * sizeof(T)) {
    T first, second;
    std::memcpy(&first, codes.data() + at, sizeof first);
    std::memcpy(&second, codes.data() + at + sizeof first, sizeof second);
    const std::uint32_t both = (first & mask) | (second & mask) << bits;
    for (unsigned b = 0; b < bits / 4; ++b) *to++ = std::byte(both >> 8 * b & 0xff);
  }
}

}  // namespace leveret::patch
