#include "model/open_addressing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <unordered_map>
#include <vector>

#include "model/linear_table.h"

namespace leveret::model {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;

/// `count` keys whose homes lie in [from, to), as a fraction of any table.
std::vector<std::uint32_t> keys_at_home(double from, double to, std::size_t count) {
  constexpr std::uint64_t kScale = 1 << 16;
  std::vector<std::uint32_t> keys;
  for (std::uint32_t key = 1; keys.size() < count; ++key) {
    const double home = static_cast<double>(home_slot(key, kScale)) / kScale;
    if (home >= from && home < to) keys.push_back(key);
  }
  return keys;
}

TEST_CASE("homes stay in order, inside the table, and never move down when it grows") {
  std::mt19937 random(1);
  for (std::uint64_t slots : {1ull, 3ull, 64ull, 1000ull, 4097ull, 1ull << 20, 1ull << 31}) {
    for (int i = 0; i < 1000; ++i) {
      const std::uint32_t a = random(), b = random();
      const std::uint64_t more = std::min(slots + 1 + random() % slots, kMaxSlots);
      REQUIRE(home_slot(a, slots) < slots);
      REQUIRE(home_slot(a, slots) <= home_slot(a, more));
      if (home_slot(a, slots) < home_slot(b, slots)) {
        REQUIRE(home_slot(a, more) <= home_slot(b, more));
      }
    }
  }
  // Of powers of two it is what files of the first day have: the upper bits of the product.
  CHECK(home_slot(12345, 1 << 10) == (12345 * 0x9e3779b97f4a7c15u) >> 54);
}

TEST_CASE("every size leaves an empty slot and is followed by a larger one") {
  for (std::uint64_t slots = 1; slots < kMaxSlots; slots = next_size(slots)) {
    CHECK(key_limit(slots) < slots);
    CHECK(next_size(slots) > slots);
    if (slots >= 4) CHECK(key_limit(slots) > 0);
    if (slots >= 64) CHECK(slots - key_limit(slots) >= 16);
  }
}

TEST_CASE("a table with crowded homes is a map through all its sizes") {
  const std::uint32_t floats = GENERATE(3, 7);
  std::vector<std::uint32_t> keys;
  SECTION("all at the start: no new place lies above the old one") {
    keys = keys_at_home(0, 0.0002, 2500);
  }
  SECTION("all at the end: they go on at the start") { keys = keys_at_home(0.9995, 1, 2500); }
  SECTION("both") {
    keys = keys_at_home(0, 0.0005, 2000);
    const std::vector<std::uint32_t> end = keys_at_home(0.9995, 1, 2000);
    keys.insert(keys.end(), end.begin(), end.end());
  }
  SECTION("in the middle") { keys = keys_at_home(0.5, 0.5005, 3000); }
  SECTION("anywhere") { keys = keys_at_home(0, 1, 100000); }
  std::shuffle(keys.begin(), keys.end(), std::mt19937(floats));
  MemoryBudget budget(kMemory);
  LinearTable table(0, floats, budget);
  std::unordered_map<std::uint32_t, float> oracle;
  std::uint64_t sizes = 0;
  for (std::size_t n = 0; n < keys.size(); ++n) {
    const std::uint64_t before = table.capacity();
    float* cell = table.find_or_insert(keys[n]);
    REQUIRE(cell[0] == 0);
    REQUIRE(cell[floats - 1] == 0);
    cell[0] = oracle[keys[n]] = static_cast<float>(n + 1);
    cell[floats - 1] = -cell[0];
    if (table.capacity() == before && n + 1 < keys.size()) continue;
    ++sizes;
    for (const auto& [key, value] : oracle) {
      const float* found = table.find(key);
      REQUIRE(found != nullptr);
      REQUIRE(found[0] == value);
      REQUIRE(found[floats - 1] == -value);
    }
    REQUIRE((table.find(0x12345) != nullptr) == oracle.contains(0x12345));
    REQUIRE(budget.used() == table.arena().size());
  }
  CHECK(sizes >= 3);
  std::size_t seen = 0;
  table.for_each([&](std::uint32_t, const float*) { ++seen; });
  CHECK(seen == oracle.size());
}

TEST_CASE("slots of any content are spread without losing a key") {
  // As a file may have them: keys anywhere, twice, and all but one slot in use.
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t before = 1 + random() % 60, after = before + 1 + random() % 60;
    std::vector<std::uint64_t> slots(after);
    std::vector<std::uint64_t> entries;
    for (std::uint64_t i = 0; i + 1 < before; ++i) {
      if (random() % 8 == 0) continue;
      slots[i] = (std::uint64_t{1} << 32) | (random() % 2 == 0 ? random() : random() % 5);
      entries.push_back(slots[i]);
    }
    std::shuffle(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(before), random);
    spread_slots<8>(reinterpret_cast<std::byte*>(slots.data()), before, after,
                    [](const std::byte* at) {
                      std::uint64_t entry;
                      std::memcpy(&entry, at, sizeof entry);
                      return entry != 0;
                    });
    for (const std::uint64_t entry : entries) {
      std::uint64_t i = home_slot(static_cast<std::uint32_t>(entry), after);
      while (slots[i] != 0 && slots[i] != entry) i = (i + 1) % after;
      REQUIRE(slots[i] == entry);
    }
    const auto used = [](const std::byte* at) { return at[4] != std::byte{0}; };
    REQUIRE(check_look_ups<8>(reinterpret_cast<const std::byte*>(slots.data()), after, used).right);
    std::erase(slots, 0);
    std::sort(slots.begin(), slots.end());
    std::sort(entries.begin(), entries.end());
    REQUIRE(slots == entries);
  }
}

TEST_CASE("a table takes only what is new from the budget, and stops where it runs out") {
  MemoryBudget budget(1 << 20);
  LinearTable table(0, 3, budget);
  for (std::uint32_t key = 1; table.shared() == 0; ++key) {
    *table.find_or_insert(key) = static_cast<float>(key);
  }
  // The next size would not fit; old and new together never had to.
  CHECK(budget.used() <= budget.limit());
  CHECK((next_size(table.capacity()) + 1) * 16 > budget.limit());
  CHECK(table.size() == key_limit(table.capacity()));
  for (std::uint32_t key = 1; key <= table.size(); ++key) {
    REQUIRE(*table.find(key) == static_cast<float>(key));
  }
}

}  // namespace
}  // namespace leveret::model
