// Shards that threads share, and shards that run out of memory.
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "layouts.h"
#include "table/in_threads.h"
#include "table/meet.h"
#include "table/shard.h"

namespace leveret::table {
namespace {

ShardOptions limited(std::uint32_t admit, RowLayout rows) {
  ShardOptions options;
  options.cells = CellKind::kMixed;
  options.rows = std::move(rows);
  options.admission.admit = admit;
  options.seed = 42;
  return options;
}
RowLayout large_rows() { return RowLayout({part_of(16, 4, Codec::f32())}); }
RowLayout small_rows() { return RowLayout({part_of(1, 1, Codec::fixed(8, 5))}); }

TEST_CASE("without memory for rows new features share one, old ones keep theirs") {
  const std::uint32_t admit = GENERATE(0, 1, 2, 3);
  const std::uint32_t sights = admit == 0 ? 2 : admit;
  MemoryBudget budget(50000);
  Shard shard(limited(admit, large_rows()), budget);
  Key next = 1;
  for (; shard.overflow_rows_given() == 0; ++next) {
    REQUIRE(next < 100000);
    for (std::uint32_t i = 0; i < sights; ++i) meet(shard, next);
  }
  const Row overflow = shard.overflow_row();
  REQUIRE(overflow == next - 2);
  CHECK(shard.rows().full());
  CHECK_FALSE(shard.index().full());
  CHECK(budget.used() <= budget.limit() + large_rows().stride());
  CHECK(budget.used() > budget.limit());
  std::uint64_t given = shard.overflow_rows_given();
  for (Key key = next; key < next + 10; ++key) {
    for (std::uint32_t i = 1; i < sights; ++i) REQUIRE(meet(shard, key) == kNoRow);
    // Prediction takes what learning would take now.
    REQUIRE(known(shard, key) == (admit != 1 ? kNoRow : overflow));
    for (int again = 0; again < 3; ++again) {
      REQUIRE(meet(shard, key) == overflow);
      REQUIRE(shard.overflow_rows_given() == ++given);
      REQUIRE(known(shard, key) == overflow);
    }
    CHECK(shard.find(key)->ref.is_refused());
  }
  CHECK(shard.rows().size() == overflow + 1);
  for (Key key = 1; key + 1 < next; ++key) {
    REQUIRE(known(shard, key) == key - 1);
    REQUIRE(meet(shard, key) == key - 1);
  }
  CHECK(shard.overflow_rows_given() == given);
  if (admit != 1) CHECK(known(shard, 0xabcdef) == kNoRow);
  // What is forgotten makes room, also for those that were refused; the row of the others stays.
  const std::vector<float> others = content(shard.rows(), overflow);
  CHECK(shard.out_of_memory());
  CHECK(shard.forget([](const Slot& slot) { return slot.key <= 5; }) == 5);
  CHECK_FALSE(shard.out_of_memory());
  CHECK(content(shard.rows(), shard.overflow_row()) == others);
  for (std::uint32_t i = 1; i < sights; ++i) REQUIRE(meet(shard, next) == kNoRow);
  const Row row = meet(shard, next);
  CHECK(row == shard.rows().size() - 1);
  CHECK(row != shard.overflow_row());
}

TEST_CASE("without memory for keys new features share a slot and a row") {
  MemoryBudget budget(20000);
  Shard shard(limited(2, small_rows()), budget);
  Key next = 1;
  for (; shard.overflow_slot() == nullptr; ++next) meet(shard, next);
  CHECK(shard.index().full());
  const Row overflow = shard.overflow_row();
  REQUIRE(overflow != kNoRow);
  CHECK(shard.overflow_slot()->ref.is_refused());
  CHECK(shard.find(next) == nullptr);
  CHECK(shard.find_or_insert(next) == shard.overflow_slot());
  CHECK(meet(shard, next) == overflow);
  CHECK(known(shard, next + 5) == overflow);
  CHECK(shard.overflow_rows_given() == 2);
  CHECK(shard.index().overflow_lookups() == 3);
  cell_of(shard.find_or_insert(next + 9))->weight = 5;
  CHECK(cell_of(shard.overflow_slot())->weight == 5);
  for (Key key = 1; key + 1 < next; ++key) {
    REQUIRE(shard.find(key)->key == key);
    REQUIRE(cell_of(shard.find(key))->weight == 0);
  }
  // For some rows there is memory.
  for (Key key = 1; key <= 30; ++key) REQUIRE(meet(shard, key) == overflow + key);
}

TEST_CASE("threads that run out of memory get the row of the others when they pause") {
  MemoryBudget budget(50000);
  Shard shard(limited(1, large_rows()), budget);
  CHECK_FALSE(shard.has_room(10, 10));
  shard.set_concurrent(true);
  shard.reserve(10, 10);
  CHECK(shard.has_room(10, 10));
  CHECK(shard.overflow_row() == kNoRow);
  REQUIRE(budget.take(budget.limit() - budget.used()));  // others' memory
  CHECK(meet(shard, 1) == kNoRow);
  CHECK(shard.find(1)->ref.is_refused());
  CHECK(shard.rows().full());
  CHECK(shard.overflow_row() == kNoRow);
  CHECK_FALSE(shard.has_room(1, 0));
  const std::uint64_t given = shard.overflow_rows_given();
  shard.reserve(1, 0);
  CHECK(shard.has_room(1, 0));
  CHECK(shard.overflow_row() == 0);
  CHECK(shard.overflow_rows_given() == given);
  CHECK(meet(shard, 1) == 0);
  CHECK(meet(shard, 2) == 0);
  CHECK(shard.overflow_rows_given() == given + 2);
}

TEST_CASE("where there is no memory for keys there may be some for rows") {
  MemoryBudget budget(kMemory);
  Shard shard(limited(1, large_rows()), budget);
  for (Key key = 1; key <= 600; ++key) shard.find_or_insert(key);
  // Less than the next size of the index takes.
  REQUIRE(budget.take(budget.limit() - budget.used() - 30000));
  for (Key key = 601; shard.overflow_slot() == nullptr; ++key) shard.find_or_insert(key);
  REQUIRE(shard.index().full());
  CHECK_FALSE(shard.has_room(10, 0));
  shard.reserve(10, 0);
  CHECK(shard.has_room(10, 0));
  const Row overflow = shard.overflow_row();
  CHECK(overflow != kNoRow);
  while (!shard.rows().full() && shard.rows().has_room(10)) shard.rows().make(12345);
  REQUIRE_FALSE(shard.rows().full());
  CHECK_FALSE(shard.has_room(10, 0));
  shard.reserve(10, 0);
  CHECK(shard.has_room(10, 0));
  shard.set_concurrent(true);
  for (Key key = 1; key <= 10; ++key) {
    const Row row = meet(shard, key);
    CHECK(row != kNoRow);
    CHECK(row != overflow);
  }
}

TEST_CASE("room is asked for keys, rows and values") {
  MemoryBudget budget(kMemory);
  Shard shard(limited(1, small_rows()), budget);
  CHECK_FALSE(shard.has_room(1, 0));  // no rows yet
  shard.reserve(1, 0);
  CHECK(shard.has_room(1, 0));
  CHECK(shard.has_room(1, 40));
  CHECK_FALSE(shard.has_room(1, 1000));
  CHECK_FALSE(shard.has_room(1000, 0));
  shard.reserve(1000, 1000);
  CHECK(shard.has_room(1000, 1000));
}

/// Runs body(0), body(1), … side by side.
TEST_CASE("threads that meet the same features make each of them one row") {
  const std::uint32_t admit = GENERATE(1, 2);
  constexpr Key kKeys = 3000;
  MemoryBudget budget(kMemory), other_budget(kMemory);
  const RowLayout layout = layout_of_two_parts(3);
  Shard shard(limited(admit, layout), budget), alone(limited(1, layout), other_budget);
  shard.reserve(kKeys, kKeys);
  shard.set_concurrent(true);
  std::vector<std::vector<Row>> rows(4, std::vector<Row>(kKeys + 1, kNoRow));
  std::vector<int> wrong(4);
  in_threads(4, [&](std::uint32_t t) {
    std::mt19937 random(t / 2);  // two at a time go the same way
    for (int i = 0; i < 20000; ++i) {
      const Key key = 1 + random() % kKeys;
      Slot* const slot = shard.find_or_insert(key);
      wrong[t] += Index::key_at(reinterpret_cast<std::byte*>(slot)) != key;
      const Row row = i % 4 == 0 ? shard.row_of(*slot) : shard.count_and_find(*slot);
      if (row == kNoRow) continue;
      wrong[t] += rows[t][key] != kNoRow && rows[t][key] != row;
      rows[t][key] = row;
      // A row that is handed out has its first weights.
      wrong[t] += weights_of(shard.rows(), row)[0] == 0 && weights_of(shard.rows(), row)[1] == 0;
    }
  });
  CHECK(wrong == std::vector<int>(4));
  std::set<Row> distinct;
  for (Key key = 1; key <= kKeys; ++key) {
    const Row row = shard.find(key) == nullptr ? kNoRow : shard.row_of(*shard.find(key));
    for (const auto& own : rows) REQUIRE((own[key] == kNoRow || own[key] == row));
    if (row == kNoRow) continue;
    REQUIRE(distinct.insert(row).second);
    REQUIRE(content(shard.rows(), row) == content(alone.rows(), meet(alone, key)));
  }
  CHECK(distinct.size() == shard.rows().size());
  CHECK(distinct.size() == shard.rows().size());
  CHECK(distinct.size() > kKeys / 2);
  CHECK(shard.overflow_rows_given() == 0);
}

TEST_CASE("threads raise largest values side by side") {
  constexpr Key kKeys = 500;
  MemoryBudget budget(kMemory);
  Shard shard(limited(2, layout_of_slots(3)), budget);
  shard.reserve(kKeys, kKeys);
  shard.set_concurrent(true);
  in_threads(4, [&](std::uint32_t t) {
    for (std::uint32_t i = 0; i < 4000; ++i) {
      const Key key = 1 + (i + t * 100) % kKeys;
      Slot* const slot = shard.find_or_insert(key);
      shard.raise_largest_value(*slot, static_cast<float>(key % 3 + 2));
      shard.count_and_find(*slot);
    }
  });
  CHECK(shard.largest_values().size() == kKeys);
  for (Key key = 1; key <= kKeys; ++key) {
    REQUIRE(shard.find(key)->ref.has_largest_value());
    REQUIRE(shard.largest_value(*shard.find(key)) == static_cast<float>(key % 3 + 2));
    REQUIRE(shard.find(key)->ref.has_row());
  }
  CHECK(shard.rows().size() == kKeys);
}

TEST_CASE("threads run out of memory side by side") {
  const std::uint32_t admit = GENERATE(1, 2);
  MemoryBudget budget(20000);
  Shard shard(limited(admit, large_rows()), budget);
  shard.reserve(40, 0);
  REQUIRE(budget.take(8000));  // others were faster: there is room for more rows than memory
  REQUIRE(shard.has_room(40, 0));
  shard.set_concurrent(true);
  const auto meet_many = [&](std::uint32_t t) {
    for (int sight = 0; sight < 2; ++sight) {
      for (Key key = 1; key <= 2000; ++key) meet(shard, key * 4 + t);
    }
  };
  in_threads(4, meet_many);
  CHECK(shard.rows().full());
  CHECK(shard.overflow_rows_given() > 0);
  CHECK(shard.index().overflow_lookups() > 0);
  std::set<Row> named;
  std::uint64_t refused = 0;
  shard.for_each([&](const Slot& slot) {
    refused += slot.ref.is_refused();
    if (!slot.ref.has_row()) return;
    CHECK(named.insert(slot.ref.row()).second);
    CHECK(slot.ref.row() < shard.rows().size());
  });
  CHECK(named.size() > 10);
  CHECK(named.size() == shard.rows().size());
  CHECK(refused > 0);
  CHECK(budget.used() <= budget.limit());
  // Between their chunks the row of the others is made.
  CHECK(shard.overflow_row() == kNoRow);
  CHECK_FALSE(shard.has_room(40, 0));
  shard.reserve(40, 0);
  CHECK(shard.has_room(40, 0));
  REQUIRE(shard.overflow_row() != kNoRow);
  in_threads(4, meet_many);
  CHECK(shard.rows().size() == named.size() + 1);
}

}  // namespace
}  // namespace leveret::table
