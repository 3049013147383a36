#include "text/hash.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "kernels/text/short_hash.h"

namespace leveret::text {
namespace {

constexpr std::uint32_t kMask18 = (1u << 18) - 1;

/// murmur3_x86_32 byte by byte, as its author's description gives it.
std::uint32_t plain_murmur3(const std::string& s, std::uint32_t seed) {
  auto rotl = [](std::uint32_t x, int r) { return (x << r) | (x >> (32 - r)); };
  std::uint32_t h = seed, k = 0;
  std::size_t i = 0;
  for (; i < s.size(); ++i) {
    k |= static_cast<std::uint32_t>(static_cast<unsigned char>(s[i])) << (8 * (i % 4));
    if (i % 4 != 3) continue;
    h ^= rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u;
    h = rotl(h, 13) * 5 + 0xe6546b64u;
    k = 0;
  }
  if (i % 4 != 0) h ^= rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u;
  h ^= static_cast<std::uint32_t>(s.size());
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

TEST_CASE("murmur3 gives the published test values", "[hash]") {
  CHECK(murmur3("", 0) == 0);
  CHECK(murmur3("", 1) == 0x514e28b7);
  CHECK(murmur3("", 0xffffffff) == 0x81f16f39);
  CHECK(murmur3("test", 0x9747b28c) == 0x704b81dc);
  CHECK(murmur3("Hello, world!", 0x9747b28c) == 0x24884cba);
  CHECK(murmur3("The quick brown fox jumps over the lazy dog", 0x9747b28c) == 0x2fa826cd);
}

TEST_CASE("murmur3 of every length equals the plain form", "[hash]") {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 70; ++size) {
    std::string s(size, '\0');
    for (char& c : s) c = static_cast<char>(random());
    const auto seed = static_cast<std::uint32_t>(random());
    CHECK(murmur3(s, seed) == plain_murmur3(s, seed));
  }
}

TEST_CASE("hash of strings: digits are their number plus the seed", "[hash]") {
  CHECK(hash_name("7", 100, HashMode::kStrings) == 107);
  CHECK(hash_name("007", 100, HashMode::kStrings) == 107);
  CHECK(hash_name("", 100, HashMode::kStrings) == 100);
  CHECK(hash_name("12345678", 1, HashMode::kStrings) == 12345679);
  // n accumulates modulo 2^64 and its low 32 bits count.
  CHECK(hash_name("4294967296", 5, HashMode::kStrings) == 5);
  CHECK(hash_name("18446744073709551617", 5, HashMode::kStrings) == 6);
  CHECK(hash_name("4294967295", 2, HashMode::kStrings) == 1);
}

TEST_CASE("hash of strings: anything else is murmur3", "[hash]") {
  for (const char* name : {"a", "12a", "-1", "1.5", "+1", "/", ":", "abcdefgh", "a long name"}) {
    CHECK(hash_name(name, 9, HashMode::kStrings) == murmur3(name, 9));
  }
}

TEST_CASE("hash of strings trims bytes up to 0x20 at both ends, and none from 0x80", "[hash]") {
  CHECK(hash_name("\x01 a\x1f ", 3, HashMode::kStrings) == murmur3("a", 3));
  CHECK(hash_name("\r12\r", 3, HashMode::kStrings) == 15);
  CHECK(hash_name(std::string_view("\0x\0", 3), 3, HashMode::kStrings) == murmur3("x", 3));
  CHECK(hash_name("\x80g\xff", 3, HashMode::kStrings) == murmur3("\x80g\xff", 3));
  CHECK(hash_name("a b", 3, HashMode::kStrings) == murmur3("a b", 3));
}

TEST_CASE("hash of all never looks at the bytes", "[hash]") {
  for (const char* name : {"", "7", "007", " a ", "abc"}) {
    CHECK(hash_name(name, 11, HashMode::kAll) == murmur3(name, 11));
  }
}

TEST_CASE("hash_short equals hash_name for every length and kind of byte", "[hash]") {
  std::mt19937 random(2);
  const std::string alphabets[] = {"0123456789", "0123456789abcdef", "/0:9",
                                   std::string("\x01\x20\x21 5", 5)};
  for (int round = 0; round < 20000; ++round) {
    const std::uint32_t size = 1 + random() % 8;
    const std::uint64_t noise = (std::uint64_t{random()} << 32) | random();
    std::uint64_t word = noise;
    if (round % 5 != 4) {
      const std::string& alphabet = alphabets[round % 5 % 4];
      char bytes[8];
      for (char& c : bytes) c = alphabet[random() % alphabet.size()];
      std::memcpy(&word, bytes, 8);
    }
    char bytes[8];
    std::memcpy(bytes, &word, 8);
    const auto seed = static_cast<std::uint32_t>(random());
    word &= kernels::kLowBytes[size];
    for (HashMode mode : {HashMode::kStrings, HashMode::kAll}) {
      const bool numbers = mode == HashMode::kStrings;
      if (numbers && kernels::blank_ends_short(word, size)) continue;
      REQUIRE(kernels::hash_short(word, size, seed, numbers) ==
              hash_name({bytes, size}, seed, mode));
    }
  }
}

TEST_CASE("the constant and pairs as VW has them", "[hash]") {
  CHECK((kConstantHash & kMask18) == 116060);
  const std::uint32_t a = hash_name("x", hash_name("a", 0, HashMode::kStrings), HashMode::kStrings);
  const std::uint32_t b = hash_name("y", hash_name("b", 0, HashMode::kStrings), HashMode::kStrings);
  CHECK((hash_pair(a, b) & kMask18) == 167114);
  // Three-way: F*((F*a) ^ b) ^ c in 64 bits, whose low 32 bits chain from hash_pair.
  const std::uint64_t f = 16777619, c = 0x9e3779b9;
  CHECK(hash_pair(hash_pair(a, b), 0x9e3779b9) ==
        static_cast<std::uint32_t>((f * ((f * a) ^ b)) ^ c));
}

}  // namespace
}  // namespace leveret::text
