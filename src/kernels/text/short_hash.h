/// The steps of murmur3_x86_32, and VW's hash of names of up to 8 bytes without a loop.
///
/// Internal linkage: files for several instruction sets include this.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace leveret::kernels {
namespace {

static_assert(std::endian::native == std::endian::little, "the hashes read words of the text");

inline std::uint32_t load_le32(const char* p) {
  std::uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

inline std::uint64_t load_le64(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

inline std::uint32_t murmur_mix(std::uint32_t k) {
  return std::rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

inline std::uint32_t murmur_step(std::uint32_t h) { return std::rotl(h, 13) * 5 + 0xe6546b64u; }

inline std::uint32_t murmur_round(std::uint32_t h, std::uint32_t k) {
  return murmur_step(h ^ murmur_mix(k));
}

inline std::uint32_t murmur_finish(std::uint32_t h, std::uint32_t size) {
  h ^= size;
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ (h >> 16);
}

/// The low `size` bytes of a word, size 0 to 8.
constexpr std::uint64_t kLowBytes[9] = {
    0,
    0xff,
    0xffff,
    0xffffff,
    0xffffffff,
    0xffffffffff,
    0xffffffffffff,
    0xffffffffffffff,
    0xffffffffffffffff,
};

constexpr std::uint64_t kAsciiZeros = 0x3030303030303030;

/// murmur3 of a name of 1 to 8 bytes; bytes of `word` from `size` on are zero. One chain that
/// stops early by selection, as name lengths are too irregular for a branch predictor.
inline std::uint32_t murmur3_short(std::uint64_t word, std::uint32_t size, std::uint32_t seed) {
  const std::uint32_t below4 = seed ^ murmur_mix(static_cast<std::uint32_t>(word));
  const std::uint32_t below8 =
      murmur_step(below4) ^ murmur_mix(static_cast<std::uint32_t>(word >> 32));
  std::uint32_t h = size < 4 ? below4 : below8;
  h = size == 8 ? murmur_step(below8) : h;
  return murmur_finish(h, size);
}

/// Whether the `size` low bytes (1 to 8) of `word` are all digits; the others are zero.
inline bool all_digits_short(std::uint64_t word, std::uint32_t size) {
  constexpr std::uint64_t kHigh = 0xf0f0f0f0f0f0f0f0;
  const std::uint64_t filled = word | (kAsciiZeros & ~kLowBytes[size]);
  const std::uint64_t above9 = (filled + 0x0606060606060606) & kHigh;
  return ((filled & kHigh) | (above9 >> 4)) == 0x3333333333333333;
}

/// The number that `size` digits (1 to 8) spell, first digit in the lowest byte.
inline std::uint32_t digits_value_short(std::uint64_t word, std::uint32_t size) {
  // Bytes to the left of the first digit become leading zeros.
  std::uint64_t v = (word & 0x0f0f0f0f0f0f0f0f) << (64 - 8 * size);
  v = v * 10 + (v >> 8);
  constexpr std::uint64_t kPairs = 0x000000ff000000ff;
  v = (v & kPairs) * 0x000f424000000064 + ((v >> 16) & kPairs) * 0x0000271000000001;
  return static_cast<std::uint32_t>(v >> 32);
}

/// Whether the `size` low bytes (1 to 8) of `word` begin or end with one that VW trims.
inline bool blank_ends_short(std::uint64_t word, std::uint32_t size) {
  return (word & 0xff) <= 0x20 || (word >> (8 * size - 8)) <= 0x20;
}

/// VW's hash of the name in the `size` low bytes (1 to 8) of `word`; the others are zero. With
/// `numbers` it must not have blank ends.
inline std::uint32_t hash_short(std::uint64_t word, std::uint32_t size, std::uint32_t seed,
                                bool numbers) {
  if (numbers && all_digits_short(word, size)) return digits_value_short(word, size) + seed;
  return murmur3_short(word, size, seed);
}

}  // namespace
}  // namespace leveret::kernels
