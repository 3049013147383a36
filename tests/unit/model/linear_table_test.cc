#include "model/linear_table.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <vector>

namespace leveret::model {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;

/// Keys of a Zipf-like kind, the special ones among them.
std::uint32_t random_key(std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      return random() % 4;  // 0 marks an empty slot inside
    case 1:
      return 0xffffffffu - random() % 4;
    case 2:
      return 0x9e3779b9u + random() % 2;
    case 3:
      return random() % 1000;
    default:
      return random();
  }
}

TEST_CASE("a growing table is a map from hash to cell") {
  const std::uint32_t floats = GENERATE(3, 7);
  MemoryBudget budget(kMemory);
  LinearTable table(0, floats, budget);
  REQUIRE(table.cell_floats() == floats);
  std::unordered_map<std::uint32_t, float> oracle;
  std::mt19937 random(floats);
  for (int i = 0; i < 60000; ++i) {
    const std::uint32_t key = random_key(random);
    // The hash 0 borrows another's slot: known, one pair in 2^32.
    const std::uint32_t slot = key != 0 ? key : 0x9e3779b9u;
    if (random() % 3 == 0) {
      const float* cell = table.find(key);
      CHECK((cell != nullptr) == oracle.contains(slot));
      continue;
    }
    float* cell = table.find_or_insert(key);
    REQUIRE(cell[0] == oracle[slot]);
    cell[0] = oracle[slot] += 1;
    cell[floats - 1] = -cell[0];
  }
  CHECK(table.size() == oracle.size());
  CHECK(key_limit(table.capacity()) >= table.size());
  CHECK(table.shared() == 0);
  std::size_t seen = 0;
  table.for_each([&](std::uint32_t key, const float* cell) {
    ++seen;
    CHECK(oracle.at(key) == cell[0]);
    CHECK(cell[floats - 1] == -cell[0]);
  });
  CHECK(seen == oracle.size());
  CHECK(budget.used() == table.arena().size());
}

TEST_CASE("a hashed table masks: equal low bits share a cell") {
  const std::uint32_t floats = GENERATE(2, 3, 7);
  MemoryBudget budget(kMemory);
  LinearTable table(5, floats, budget);
  CHECK(table.capacity() == 32);
  CHECK(table.cell_floats() == floats);
  CHECK(table.slot_words() == (floats == 2 ? 2 : floats + 1));
  CHECK(budget.used() == 32 * 4 * table.slot_words());
  CHECK(table.find_or_insert(7) == table.find_or_insert(7 + 32));
  CHECK(table.find_or_insert(7) != table.find_or_insert(8));
  CHECK(table.find(9) == table.find_or_insert(9));
  CHECK(table.find(9)[0] == 0);
  CHECK(table.size() == 0);
  for (std::uint32_t key = 0; key < 1000; ++key) {
    for (std::uint32_t i = 0; i < floats; ++i) {
      table.find_or_insert(key)[i] = static_cast<float>(key * 10 + i);
    }
  }
  CHECK(table.size() == 32);
  CHECK(table.capacity() == 32);
  std::uint32_t slot = 0;
  table.for_each([&](std::uint32_t key, const float* cell) {
    const std::uint32_t last = slot < 1000 % 32 ? 992 + slot : 960 + slot;
    CHECK(key == slot++);
    for (std::uint32_t i = 0; i < floats; ++i) {
      CHECK(cell[i] == static_cast<float>(last * 10 + i));
    }
  });
  CHECK(slot == 32);
}

TEST_CASE("what is not all zero in a hashed table is in use") {
  MemoryBudget budget(kMemory);
  LinearTable table(5, 3, budget);
  table.find_or_insert(3)[2] = 1;
  table.find_or_insert(4)[0] = -1;
  table.find_or_insert(5)[1] = 0;
  CHECK(table.size() == 2);
}

TEST_CASE("an example's cells in two steps are those found one by one") {
  const std::uint32_t bits = GENERATE(0, 12);
  MemoryBudget budget(kMemory), other_budget(kMemory);
  LinearTable table(bits, 3, budget), one_by_one(bits, 3, other_budget);
  std::mt19937 random(bits);
  for (int example = 0; example < 300; ++example) {
    std::vector<text::Feature> features(random() % 60);
    for (text::Feature& f : features) f.hash = random_key(random);
    std::vector<float*> cells(features.size());
    float unknown[3];
    table.prefetch_homes(features, cells.data());
    table.find_all(features, unknown, cells.data());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const float* const cell = one_by_one.find(features[i].hash);
      if (cell == nullptr) {
        REQUIRE(cells[i] == unknown);
      } else {
        REQUIRE(cells[i][0] == cell[0]);
      }
    }
    table.reserve(features.size());
    one_by_one.reserve(features.size());
    table.prefetch_homes(features, cells.data());
    table.find_or_insert_all(features, cells.data());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      REQUIRE(cells[i] == table.find_or_insert(features[i].hash));
      cells[i][0] += static_cast<float>(example);
      one_by_one.find_or_insert(features[i].hash)[0] += static_cast<float>(example);
    }
  }
  REQUIRE(table.size() == one_by_one.size());
  CHECK(std::memcmp(table.arena().data(), one_by_one.arena().data(), table.arena().size()) == 0);
}

TEST_CASE("reserve makes room: cells do not move until it is used up") {
  MemoryBudget budget(kMemory);
  LinearTable table(0, 3, budget);
  table.reserve(5000);
  float* first = table.find_or_insert(1);
  for (std::uint32_t key = 2; key <= 5000; ++key) table.find_or_insert(key);
  CHECK(table.find_or_insert(1) == first);
}

TEST_CASE("without memory new keys share one cell, old ones keep theirs, and it is counted") {
  MemoryBudget budget(100000);
  LinearTable table(0, 3, budget);
  std::uint32_t key = 1;
  for (; table.shared() == 0; ++key) {
    REQUIRE(key < 100000);
    *table.find_or_insert(key) = static_cast<float>(key);
  }
  const std::uint64_t kept = table.size();
  CHECK(kept == key_limit(table.capacity()));
  CHECK(budget.used() <= budget.limit());
  float* shared = table.find_or_insert(key);
  *shared = -5;
  CHECK(table.find_or_insert(key + 1) == shared);
  CHECK(table.shared() == 3);
  CHECK(*table.find(key + 2) == -5);
  CHECK(table.size() == kept);
  for (std::uint32_t k = 1; k <= kept; ++k) {
    REQUIRE(*table.find(k) == static_cast<float>(k));
    REQUIRE(*table.find_or_insert(k) == static_cast<float>(k));
  }
  table.reserve(10);
  CHECK(table.size() == kept);
}

Arena arena_with(std::uint64_t bytes) {
  Arena arena(bytes);
  REQUIRE(arena.resize(bytes));
  return arena;
}

Arena copy_of(const Arena& from) {
  Arena arena = arena_with(from.size());
  std::memcpy(arena.data(), from.data(), from.size());
  return arena;
}

TEST_CASE("stored slots are taken over, and grow on") {
  MemoryBudget budget(kMemory), other_budget(kMemory);
  LinearTable table(0, 3, budget), other(0, 3, other_budget);
  for (std::uint32_t key = 1; key <= 3000; ++key) {
    *table.find_or_insert(key * 77) = static_cast<float>(key);
  }
  other.load(copy_of(table.arena()), 4);
  CHECK(other.size() == 3000);
  CHECK(other.shared() == 4);
  CHECK(other_budget.used() == budget.used());
  CHECK(*other.find(77 * 2000) == 2000);
  for (std::uint32_t key = 3001; key <= 9000; ++key) other.find_or_insert(key * 77);
  CHECK(other.size() == 9000);
  CHECK(*other.find(77 * 2000) == 2000);
}

TEST_CASE("stored slots of an impossible size are refused") {
  MemoryBudget budget(kMemory);
  for (const std::uint64_t bytes : {0u, 16u, 17u, 16u * 3 + 8, 16u * 1024 + 4}) {
    LinearTable table(0, 3, budget);
    INFO(bytes);
    CHECK_THROWS_AS(table.load(arena_with(bytes), 0), std::runtime_error);
  }
  const std::uint32_t floats = GENERATE(2, 3, 7);
  LinearTable hashed(6, floats, budget);
  const std::uint64_t slot = 4 * hashed.slot_words();
  for (const std::uint64_t bytes : {slot * 32, slot * 63, slot * 64 + 4, slot * 66, slot * 128}) {
    INFO(bytes);
    CHECK_THROWS_AS(hashed.load(arena_with(bytes), 0), std::runtime_error);
  }
  CHECK_NOTHROW(hashed.load(arena_with(slot * 64), 0));
}

TEST_CASE("hashed slots of older files, which had keys, keep their cells") {
  const std::uint32_t floats = GENERATE(2, 3, 7);
  MemoryBudget budget(kMemory);
  LinearTable table(6, floats, budget);
  const std::size_t words = floats == 7 ? 8 : 4;
  CHECK(table.slot_words(LinearTable::SlotFormat::kFormer) == words);
  Arena stored = arena_with(65 * 4 * words);
  std::vector<float> slots(65 * words);
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = static_cast<float>(i + 1);
  std::fill_n(slots.begin() + static_cast<std::ptrdiff_t>(9 * words), words, 0.0f);  // empty
  std::memcpy(stored.data(), slots.data(), stored.size());
  Arena of_other_size = arena_with(stored.size() - 4 * words);
  CHECK_THROWS_AS(table.load(std::move(of_other_size), 0, LinearTable::SlotFormat::kFormer),
                  std::runtime_error);
  CHECK_THROWS_AS(table.load(copy_of(stored), 0), std::runtime_error);
  table.load(std::move(stored), 0, LinearTable::SlotFormat::kFormer);
  CHECK(budget.used() == 64 * 4 * table.slot_words());
  for (std::uint32_t key = 0; key < 64; ++key) {
    for (std::uint32_t i = 0; i < floats; ++i) {
      REQUIRE(table.find(key)[i] == slots[key * words + 1 + i]);
    }
  }
  CHECK(table.size() == 63);
}

TEST_CASE("stored slots without an empty one are refused: a search would not end") {
  MemoryBudget budget(kMemory);
  LinearTable table(0, 3, budget);
  Arena full = arena_with(16 * 5);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t key = i + 1;
    std::memcpy(full.data() + 16 * i, &key, sizeof key);
  }
  CHECK_THROWS_AS(table.load(std::move(full), 0), std::runtime_error);
}

TEST_CASE("stored slots with a key where no look-up finds it are refused") {
  const std::uint32_t floats = GENERATE(3, 7);
  MemoryBudget budget(kMemory);
  LinearTable table(0, floats, budget);
  for (std::uint32_t key = 1; key <= 700; ++key) table.find_or_insert(key * 77);
  const std::uint64_t bytes = (floats + 1) * sizeof(float);
  LinearTable other(0, floats, budget);
  SECTION("one slot less") {
    Arena slots = arena_with(table.arena().size() - bytes);
    std::memcpy(slots.data(), table.arena().data(), slots.size());
    CHECK_THROWS_AS(other.load(std::move(slots), 0), std::runtime_error);
  }
  SECTION("a key that was changed") {
    Arena slots = copy_of(table.arena());
    const auto at = reinterpret_cast<const std::byte*>(table.find(77) - 1) - table.arena().data();
    const std::uint32_t key = 0x80000000u ^ 77u;
    REQUIRE(home_slot(key, table.capacity()) != home_slot(77, table.capacity()));
    std::memcpy(slots.data() + at, &key, sizeof key);
    CHECK_THROWS_AS(other.load(std::move(slots), 0), std::runtime_error);
  }
  SECTION("none") { CHECK_NOTHROW(other.load(copy_of(table.arena()), 0)); }
}

TEST_CASE("threads insert and find side by side once there is room") {
  const std::uint32_t bits = GENERATE(0, 12);
  MemoryBudget budget(kMemory);
  LinearTable table(bits, 3, budget);
  constexpr std::uint32_t kKeys = 6000;
  table.reserve(kKeys);
  table.set_concurrent(true);
  std::vector<std::thread> threads;
  std::vector<std::vector<float*>> cells(4);
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      cells[t].assign(kKeys + 1, nullptr);
      for (int i = 0; i < 20000; ++i) {
        const std::uint32_t key = 1 + random() % kKeys;
        if (i % 3 == 0) table.find(key);
        cells[t][key] = table.find_or_insert(key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::unordered_map<std::uint32_t, bool> seen;
  for (std::uint32_t key = 1; key <= kKeys; ++key) {
    for (std::uint32_t t = 0; t < 4; ++t) {
      if (cells[t][key] == nullptr) continue;
      seen[bits == 0 ? key : key % 4096] = true;
      REQUIRE(cells[t][key] == table.find_or_insert(key));
    }
  }
  CHECK(table.shared() == 0);
  if (bits == 0) CHECK(table.size() == seen.size());
}

TEST_CASE("threads that look up whole lines in a full table leave it empty slots") {
  MemoryBudget budget(kMemory / 64);
  LinearTable table(0, 7, budget);
  table.reserve(std::uint64_t{1} << 22);  // more than the budget has
  const std::uint64_t capacity = table.capacity();
  CHECK(table.has_room(std::uint64_t{1} << 22));
  table.set_concurrent(true);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<text::Feature> line;
      for (std::uint32_t key = 1; key <= capacity / 4; ++key) line.push_back({key * 8 + t, 1});
      std::vector<float*> cells(line.size());
      table.prefetch_homes(line, cells.data());
      table.find_or_insert_all(line, cells.data());
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(table.capacity() == capacity);
  CHECK(table.size() >= key_limit(capacity));
  CHECK(table.size() < key_limit(capacity) + 8);
  CHECK(table.shared() == capacity / 4 * 8 - table.size());
}

TEST_CASE("threads beyond the room end in the shared cell, and nothing moves") {
  MemoryBudget budget(kMemory);
  LinearTable table(0, 3, budget);
  const std::uint64_t capacity = table.capacity();
  table.set_concurrent(true);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t key = 1; key < 3000; ++key) table.find_or_insert(key * 4 + t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(table.capacity() == capacity);
  CHECK(table.size() >= key_limit(capacity));
  CHECK(table.size() < key_limit(capacity) + 4);
  CHECK(table.shared() == 4 * 2999 - table.size());
}

}  // namespace
}  // namespace leveret::model
