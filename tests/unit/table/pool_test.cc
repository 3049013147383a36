#include "table/pool.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "layouts.h"

namespace leveret::table {
namespace {

bool is_zero(const std::byte* at, std::uint64_t bytes) {
  return std::all_of(at, at + bytes, [](std::byte b) { return b == std::byte{}; });
}

TEST_CASE("pieces of a pool begin on a cache line, are zero, keep apart and do not move") {
  Pool pool(kMemory);
  std::map<std::byte*, std::uint64_t> pieces;
  std::mt19937 random(1);
  const auto fill = [](std::byte* at, std::uint64_t bytes) {
    std::memset(at, static_cast<int>(bytes % 255 + 1), bytes);
  };
  for (int round = 0; round < 3000; ++round) {
    if (random() % 3 == 0 && !pieces.empty()) {
      const auto piece = std::next(pieces.begin(), static_cast<int>(random() % pieces.size()));
      pool.give_back(piece->first, piece->second);
      pieces.erase(piece);
      continue;
    }
    const std::uint64_t bytes = 1 + random() % 5000;
    std::byte* const at = pool.take(bytes);
    REQUIRE(at != nullptr);
    REQUIRE(reinterpret_cast<std::uintptr_t>(at) % 64 == 0);
    REQUIRE(is_zero(at, bytes));
    REQUIRE(pieces.emplace(at, bytes).second);
    fill(at, bytes);
  }
  std::byte* end = nullptr;
  for (const auto& [at, bytes] : pieces) {
    REQUIRE(at >= end);
    end = at + bytes;
    std::vector<std::byte> expected(bytes);
    fill(expected.data(), bytes);
    REQUIRE(std::equal(at, end, expected.begin()));
  }
}

TEST_CASE("pieces that are given back are one again where they touch, and a piece can be cut") {
  Pool pool(kMemory);
  std::vector<std::byte*> pieces;
  for (int i = 0; i < 6; ++i) pieces.push_back(pool.take(640));
  for (const int i : {1, 3, 2, 0, 4}) pool.give_back(pieces[static_cast<std::size_t>(i)], 640);
  CHECK(pool.take(5 * 640) == pieces[0]);
  pool.shorten(pieces[0], 5 * 640, 100);
  CHECK(pool.take(5 * 640 - 128) == pieces[0] + 128);
  pool.shorten(pieces[5], 640, 640);
  CHECK(pool.take(64) == pieces[5] + 640);
}

TEST_CASE("what is given back is used again, in parts, too") {
  Pool pool(kMemory);
  std::byte* const large = pool.take(1000);  // 16 lines
  pool.take(1);
  std::byte* const small = pool.take(128);
  std::byte* const last = pool.take(1);
  pool.give_back(large, 1000);
  pool.give_back(small, 128);
  CHECK(pool.take(100) == small);  // the smallest that will do
  CHECK(pool.take(100) == large);
  CHECK(pool.take(64 * 14) == large + 128);
  CHECK(pool.take(1) == last + 64);
}

TEST_CASE("a pool goes beyond its limit, which is for others to keep") {
  Pool pool(100);
  for (int i = 0; i < 100; ++i) {
    std::byte* const at = pool.take(10000);
    REQUIRE(at != nullptr);
    REQUIRE(is_zero(at, 10000));
    at[9999] = std::byte{1};
  }
}

}  // namespace
}  // namespace leveret::table
