#include "table/index.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "layouts.h"
#include "table/in_threads.h"

namespace leveret::table {
namespace {

/// What an owner keeps of a key stands at both ends of what is his; in 8 bytes these are one.
void put(std::byte* slot, std::size_t slot_bytes, std::uint32_t number) {
  std::memcpy(slot + sizeof(Key), &number, sizeof number);
  std::memcpy(slot + slot_bytes - sizeof number, &number, sizeof number);
}
std::uint32_t get(const std::byte* slot, std::size_t slot_bytes) {
  std::uint32_t first, last;
  std::memcpy(&first, slot + sizeof(Key), sizeof first);
  std::memcpy(&last, slot + slot_bytes - sizeof last, sizeof last);
  REQUIRE(first == last);
  return first;
}
bool is_zero(const std::byte* slot, std::size_t slot_bytes, std::size_t from) {
  return std::all_of(slot + from, slot + slot_bytes, [](std::byte b) { return b == std::byte{}; });
}

/// The special keys among them.
Key random_key(std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      return key_of(random() % 4);
    case 1:
      return 0xffffffffu - random() % 4;
    case 2:
      return 0x9e3779b9u + random() % 2;
    case 3:
      return 1 + random() % 1000;
    default:
      return key_of(random());
  }
}

/// `count` keys whose homes lie in [from, to), as a fraction of any index.
std::vector<Key> keys_at_home(double from, double to, std::size_t count) {
  std::vector<Key> keys;
  for (Key key = 1; keys.size() < count; ++key) {
    const double home = mixed_value(key) * 0x1p-32;
    if (home >= from && home < to) keys.push_back(key);
  }
  return keys;
}

std::uint64_t number_of(const Index& index, const std::byte* slot, std::size_t slot_bytes) {
  return static_cast<std::uint64_t>(slot - index.slot(0)) / slot_bytes;
}

std::vector<Key> keys_in_order(const Index& index) {
  std::vector<Key> keys;
  for (const std::uint32_t i : index.in_order()) keys.push_back(Index::key_at(index.slot(i)));
  return keys;
}

/// Whether look-ups find what `oracle` says, and nothing else is there.
void check(const Index& index, std::size_t slot_bytes,
           const std::unordered_map<Key, std::uint32_t>& oracle) {
  REQUIRE(index.size() == oracle.size());
  for (const auto& [key, number] : oracle) {
    const std::byte* const found = index.find(key);
    REQUIRE(found != nullptr);
    REQUIRE(Index::key_at(found) == key);
    REQUIRE(get(found, slot_bytes) == number);
  }
  std::size_t visited = 0;
  index.for_each([&](const std::byte* slot) {
    ++visited;
    REQUIRE(oracle.at(Index::key_at(slot)) == get(slot, slot_bytes));
  });
  REQUIRE(visited == oracle.size());
}

TEST_CASE("an index is a map from key to slot") {
  const std::size_t bytes = GENERATE(std::size_t{8}, 16, 32);
  MemoryBudget budget(kMemory);
  Index index(bytes, budget, GENERATE(true, false));
  std::unordered_map<Key, std::uint32_t> oracle;
  std::mt19937 random(static_cast<std::uint32_t>(bytes));
  for (std::uint32_t i = 1; i < 60000; ++i) {
    const Key key = random_key(random);
    if (random() % 3 == 0) {
      REQUIRE((index.find(key) != nullptr) == oracle.contains(key));
      continue;
    }
    std::byte* const slot = index.find_or_insert(key);
    REQUIRE(Index::key_at(slot) == key);
    if (!oracle.contains(key)) REQUIRE(is_zero(slot, bytes, sizeof(Key)));
    REQUIRE(get(slot, bytes) == oracle[key]);
    put(slot, bytes, oracle[key] = i);
  }
  check(index, bytes, oracle);
  CHECK(index.size() <= index.capacity() / 4 * 3);
  CHECK(index.overflow_lookups() == 0);
  CHECK_FALSE(index.full());
  CHECK(budget.used() == (index.capacity() + 1) * bytes);
}

TEST_CASE("an index that loses keys is the map of the others, as large as if they alone had come") {
  const std::size_t bytes = GENERATE(std::size_t{8}, 16, 32);
  const bool one_of_many = GENERATE(true, false);
  // Where all homes are, and how many of a hundred keys stay.
  const auto [from, to, stay] =
      GENERATE(std::array<double, 3>{0, 1, 50}, std::array<double, 3>{0, 1, 3},
               std::array<double, 3>{0, .001, 60}, std::array<double, 3>{.9995, 1, 90},
               std::array<double, 3>{.9995, 1, 5}, std::array<double, 3>{0, 1, 0});
  std::mt19937 random(static_cast<std::uint32_t>(bytes));
  MemoryBudget budget(kMemory), other_budget(kMemory);
  Index index(bytes, budget, one_of_many), other(bytes, other_budget, one_of_many);
  std::unordered_map<Key, std::uint32_t> oracle;
  std::vector<Key> keys = keys_at_home(from, to, to - from == 1 ? 90000 : 3000);
  std::shuffle(keys.begin(), keys.end(), random);
  const std::size_t half = keys.size() / 2;
  const auto add = [&](Key key) { put(index.find_or_insert(key), bytes, oracle[key] = key ^ 77); };
  for (std::size_t i = 0; i < half; ++i) add(keys[i]);
  index.remove([&](const std::byte* slot) {
    const Key key = Index::key_at(slot);
    REQUIRE(get(slot, bytes) == oracle.at(key));
    return mixed_value(key ^ 0x5bd1e995u) % 100 >= static_cast<std::uint32_t>(stay);
  });
  std::erase_if(oracle, [&](const auto& entry) {
    return mixed_value(entry.first ^ 0x5bd1e995u) % 100 >= static_cast<std::uint32_t>(stay);
  });
  check(index, bytes, oracle);
  for (const auto& [key, number] : oracle) put(other.find_or_insert(key), bytes, number);
  CHECK(index.capacity() == other.capacity());
  CHECK(budget.used() == other_budget.used());
  CHECK(keys_in_order(index) == keys_in_order(other));
  for (std::size_t i = half; i < keys.size(); ++i) add(keys[i]);  // what is empty is zero
  check(index, bytes, oracle);
}

TEST_CASE("an index keeps what stands for keys without a place when it loses others") {
  MemoryBudget budget(40000);
  Index index(16, budget, false);
  Key key = 1;
  for (; index.overflow_lookups() == 0; ++key) index.find_or_insert(key);
  put(index.overflow(), 16, 4711);
  CHECK(index.out_of_memory());
  index.remove([](const std::byte* slot) { return Index::key_at(slot) > 10; });
  CHECK(index.size() == 10);
  CHECK_FALSE(index.out_of_memory());
  CHECK(get(index.overflow(), 16) == 4711);
  CHECK(index.find_or_insert(key) != index.overflow());
}

TEST_CASE("an index with crowded homes is a map through all its sizes") {
  const std::size_t bytes = GENERATE(std::size_t{8}, 16, 32);
  const bool one_of_many = GENERATE(true, false);
  std::vector<Key> keys;
  SECTION("all at the start: no new place lies above the old one") {
    keys = keys_at_home(0, 0.0002, 2500);
  }
  SECTION("all at the end: they go on at the start") { keys = keys_at_home(0.9995, 1, 2500); }
  SECTION("both") {
    keys = keys_at_home(0, 0.0005, 2000);
    const std::vector<Key> end = keys_at_home(0.9995, 1, 2000);
    keys.insert(keys.end(), end.begin(), end.end());
  }
  SECTION("in the middle") { keys = keys_at_home(0.5, 0.5005, 3000); }
  SECTION("anywhere") { keys = keys_at_home(0, 1, 30000); }
  std::shuffle(keys.begin(), keys.end(), std::mt19937(static_cast<std::uint32_t>(bytes)));
  MemoryBudget budget(kMemory);
  Index index(bytes, budget, one_of_many);
  std::unordered_map<Key, std::uint32_t> oracle;
  std::size_t sizes = 0;
  for (const Key key : keys) {
    const std::uint64_t before = index.capacity();
    std::byte* const slot = index.find_or_insert(key);
    REQUIRE(is_zero(slot, bytes, sizeof(Key)));
    put(slot, bytes, oracle[key] = static_cast<std::uint32_t>(oracle.size()));
    if (index.capacity() == before) continue;
    ++sizes;
    check(index, bytes, oracle);
    REQUIRE(index.find(0x12345) == nullptr);
  }
  check(index, bytes, oracle);
  CHECK(sizes >= 5);
}

TEST_CASE("homes keep their order, inside the index, and never move down when it grows") {
  std::mt19937 random(1);
  std::vector<Key> keys(2000);
  for (Key& key : keys) key = random_key(random);
  std::sort(keys.begin(), keys.end(), [](Key a, Key b) { return mixed_value(a) < mixed_value(b); });
  MemoryBudget budget(kMemory);
  Index index(8, budget);
  std::vector<std::uint64_t> before(keys.size(), 0);
  for (int size = 0; size < 10; ++size) {
    std::vector<std::uint64_t> homes;
    for (const Key key : keys) homes.push_back(number_of(index, index.home(key), 8));
    REQUIRE(std::is_sorted(homes.begin(), homes.end()));
    REQUIRE(homes.back() < index.capacity());
    for (std::size_t i = 0; i < homes.size(); ++i) REQUIRE(homes[i] >= before[i]);
    before = homes;
    const std::uint64_t capacity = index.capacity();
    index.reserve(capacity);
    REQUIRE(index.capacity() > capacity);
  }
  // Its own slot, where nobody was before.
  Index one(8, budget);
  CHECK(one.find_or_insert(12345) == one.home(12345));
}

TEST_CASE("keys have one order, however they came and whatever the size") {
  const std::size_t bytes = GENERATE(std::size_t{8}, 16, 32);
  // Many at both ends, so that some go on at the start and push others on.
  std::vector<Key> keys = keys_at_home(0.999, 1, 300);
  for (const Key key : keys_at_home(0, 0.001, 300)) keys.push_back(key);
  for (const Key key : keys_at_home(0.001, 0.999, 1500)) keys.push_back(key);
  // Two keys with one mixed value.
  std::unordered_map<std::uint32_t, Key> mixed;
  std::mt19937 random(5);
  for (bool found = false; !found;) {
    const Key key = key_of(random());
    const auto [other, is_new] = mixed.emplace(mixed_value(key), key);
    found = !is_new && other->second != key;
    if (found) keys.insert(keys.end(), {key, other->second});
  }
  std::vector<Key> expected = keys;
  std::sort(expected.begin(), expected.end(), [](Key a, Key b) {
    return std::pair(mixed_value(a), a) < std::pair(mixed_value(b), b);
  });
  for (std::size_t i = 1; i < expected.size(); ++i) {
    REQUIRE(Index::before(expected[i - 1], expected[i]));
    REQUIRE_FALSE(Index::before(expected[i], expected[i - 1]));
  }
  for (int round = 0; round < 6; ++round) {
    if (round == 1) std::reverse(keys.begin(), keys.end());
    if (round > 1) std::shuffle(keys.begin(), keys.end(), random);
    MemoryBudget budget(kMemory);
    Index index(bytes, budget, round % 2 == 0);
    if (round == 3) index.reserve(keys.size());
    for (const Key key : keys) index.find_or_insert(key);
    if (round == 4) index.reserve(100000);
    REQUIRE(keys_in_order(index) == expected);
    // The last ones stand at the start, before their homes; but where there is more room.
    const std::uint32_t last = index.in_order().back();
    if (round != 4) REQUIRE(index.slot(last) < index.home(expected.back()));
  }
  MemoryBudget budget(kMemory);
  CHECK(Index(bytes, budget).in_order().empty());
}

TEST_CASE("the hash 0 has a place as any other") {
  MemoryBudget budget(kMemory);
  Index index(8, budget);
  CHECK(index.find(key_of(0)) == nullptr);
  put(index.find_or_insert(key_of(0)), 8, 7);
  for (std::uint32_t hash = 1; hash < 1000; ++hash)
    put(index.find_or_insert(key_of(hash)), 8, hash);
  CHECK(get(index.find(key_of(0)), 8) == 7);
  CHECK(index.size() == 1000);
}

TEST_CASE("reserve makes room: slots do not move until it is used up") {
  MemoryBudget budget(kMemory);
  Index index(16, budget);
  CHECK_FALSE(index.has_room(5000));
  index.reserve(5000);
  CHECK(index.has_room(5000));
  const std::uint64_t capacity = index.capacity();
  const std::byte* const first = index.find_or_insert(1);
  for (Key key = 2; key <= 5000; ++key) index.find_or_insert(key);
  CHECK(index.find_or_insert(1) == first);
  CHECK(index.capacity() == capacity);
  CHECK(index.overflow_lookups() == 0);
}

TEST_CASE("without memory new keys share one slot, old ones keep theirs, and it is counted") {
  const std::size_t bytes = GENERATE(std::size_t{8}, 16, 32);
  MemoryBudget budget(100000);
  Index index(bytes, budget, GENERATE(true, false));
  Key next = 1;
  for (; index.overflow_lookups() == 0; ++next) {
    REQUIRE(next < 100000);
    put(index.find_or_insert(next), bytes, next);
  }
  CHECK(index.full());
  CHECK(index.has_room(1000000));  // growing would not help
  CHECK(index.size() == index.capacity() / 4 * 3);
  // The next size would not fit; old and new together never had to.
  CHECK(budget.used() == (index.capacity() + 1) * bytes);
  CHECK((2 * index.capacity() + 1) * bytes > budget.limit());
  const std::uint64_t kept = index.size();
  put(index.overflow(), bytes, 5);
  CHECK(index.find_or_insert(next) == index.overflow());
  CHECK(index.find_or_insert(next + 1) == index.overflow());
  CHECK(index.overflow_lookups() == 3);
  CHECK(index.find(next) == nullptr);
  CHECK(Index::key_at(index.overflow()) == kNoKey);
  index.reserve(10);
  CHECK(index.size() == kept);
  CHECK(get(index.overflow(), bytes) == 5);
  for (Key key = 1; key <= kept; ++key) {
    REQUIRE(get(index.find(key), bytes) == key);
    REQUIRE(index.find_or_insert(key) == index.find(key));
  }
  CHECK(index.overflow_lookups() == 3);
}

TEST_CASE("the overflow slot goes along when the index grows") {
  const std::size_t bytes = GENERATE(std::size_t{8}, 16, 32);
  // Little more than the first slots: the index must move to other addresses, too.
  const std::uint64_t memory = GENERATE(std::uint64_t{4096}, kMemory);
  MemoryBudget budget(memory);
  Index index(bytes, budget, GENERATE(true, false));
  index.set_concurrent(true);
  std::unordered_map<Key, std::uint32_t> oracle;
  for (Key key = 1; index.overflow_lookups() < 10; ++key) {
    std::byte* const slot = index.find_or_insert(key);
    if (slot != index.overflow()) put(slot, bytes, oracle[key] = key);
  }
  CHECK(index.full());
  CHECK(index.capacity() == Index::kFirstSlots);
  put(index.overflow(), bytes, 77);
  index.set_concurrent(false);
  CHECK_FALSE(index.full());
  for (const std::uint64_t more : {100u, 10000u, 100000u}) {
    index.reserve(more, true);
    CHECK(index.has_room(more));
    check(index, bytes, oracle);
    CHECK(Index::key_at(index.overflow()) == kNoKey);
    CHECK(get(index.overflow(), bytes) == 77);
    CHECK(index.overflow_lookups() == 10);
    CHECK(budget.used() == (index.capacity() + 1) * bytes);
  }
  // Nothing of it stays where it was.
  for (Key key = 1000; key < 50000; ++key) {
    std::byte* const slot = index.find_or_insert(key);
    REQUIRE(is_zero(slot, bytes, sizeof(Key)));
    put(slot, bytes, oracle[key] = key);
  }
  check(index, bytes, oracle);
}

TEST_CASE("an unused overflow slot stays zero") {
  MemoryBudget budget(kMemory);
  Index index(32, budget);
  for (Key key = 1; key < 5000; ++key) {
    put(index.find_or_insert(key), 32, key);
    REQUIRE(is_zero(index.overflow(), 32, 0));
  }
}

/// Runs body(0), body(1), … side by side.
TEST_CASE("threads insert and find side by side once there is room") {
  const std::size_t bytes = GENERATE(std::size_t{8}, 16, 32);
  MemoryBudget budget(kMemory);
  Index index(bytes, budget);
  constexpr Key kKeys = 6000;
  index.reserve(kKeys);
  index.set_concurrent(true);
  std::vector<std::vector<std::byte*>> slots(4, std::vector<std::byte*>(kKeys + 1));
  std::vector<int> wrong(4);
  in_threads(4, [&](std::uint32_t t) {
    std::mt19937 random(t);
    for (int i = 0; i < 20000; ++i) {
      const Key key = 1 + random() % kKeys;
      const std::byte* const found = i % 3 == 0 ? index.find(key) : nullptr;
      slots[t][key] = index.find_or_insert(key);
      wrong[t] += found != nullptr && found != slots[t][key];
    }
  });
  CHECK(wrong == std::vector<int>(4));
  std::vector<Key> seen;
  for (Key key = 1; key <= kKeys; ++key) {
    bool met = false;
    for (const auto& own : slots) {
      if (own[key] == nullptr) continue;
      met = true;
      REQUIRE(own[key] == index.find(key));
    }
    if (met) seen.push_back(key);
  }
  std::sort(seen.begin(), seen.end(), Index::before);
  CHECK(keys_in_order(index) == seen);
  CHECK(index.size() == seen.size());
  CHECK(index.overflow_lookups() == 0);
}

TEST_CASE("threads beyond the room end in the overflow slot, and nothing moves") {
  MemoryBudget budget(kMemory);
  Index index(8, budget);
  index.set_concurrent(true);
  in_threads(4, [&](std::uint32_t t) {
    for (Key key = 1; key < 3000; ++key) index.find_or_insert(key * 4 + t);
  });
  const std::uint64_t limit = Index::kFirstSlots / 4 * 3;
  CHECK(index.capacity() == Index::kFirstSlots);
  CHECK(index.full());
  CHECK(index.size() >= limit);
  CHECK(index.size() < limit + 4);
  CHECK(index.overflow_lookups() == 4 * 2999 - index.size());
  CHECK(index.in_order().size() == index.size());
}

}  // namespace
}  // namespace leveret::table
