#include "table/shard.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>
#include <set>
#include <unordered_map>
#include <vector>

#include "layouts.h"
#include "table/meet.h"

namespace leveret::table {
namespace {

ShardOptions options_of(std::uint32_t admit, RowLayout rows = layout_of_slots(3),
                        CellKind cells = CellKind::kAdagrad) {
  ShardOptions options;
  options.field = 1;
  options.cells = cells;
  options.rows = std::move(rows);
  options.admission.admit = admit;
  options.seed = 42;
  return options;
}

/// Learning meets a feature.
/// What prediction finds for it.
TEST_CASE("a row comes with the N-th occurrence") {
  CHECK(Admission{1}.needed(1000000) == 1);
  CHECK(Admission{7}.needed(0) == 7);
  const Admission by_rows{0};
  CHECK(by_rows.needed(0) == 2);
  CHECK(by_rows.needed(4095) == 2);
  CHECK(by_rows.needed(4096) == 6);
  CHECK(by_rows.needed(8191) == 6);
  CHECK(by_rows.needed(8192) == 10);
  CHECK(by_rows.needed(16383) == 10);
  CHECK(by_rows.needed(16384) == 14);
  CHECK(by_rows.needed(std::uint64_t{4096} << 20) == 2 + 4 * 21);
}

TEST_CASE("a shard admits at the N-th sight, and keeps rows and cells apart") {
  const std::uint32_t admit = GENERATE(1, 2, 3);
  MemoryBudget budget(kMemory);
  Shard shard(options_of(admit), budget);
  std::unordered_map<Key, std::uint32_t> sights;
  std::unordered_map<Key, Row> rows;
  std::mt19937 random(admit);
  for (int i = 0; i < 40000; ++i) {
    const Key key = key_of(random() % 3 == 0 ? random() % 50 : random() % 8000 * 0x10001u);
    REQUIRE(known(shard, key) == (rows.contains(key) ? rows[key] : kNoRow));
    Slot* const slot = shard.find_or_insert(key);
    REQUIRE(slot->key == key);
    REQUIRE(cell_of(slot)->weight == static_cast<float>(sights[key]));
    const Row row = shard.count_and_find(*slot);
    cell_of(slot)->weight = static_cast<float>(++sights[key]);
    if (sights[key] < admit) {
      REQUIRE(row == kNoRow);
      REQUIRE(slot->ref.occurrences() == sights[key]);
      continue;
    }
    if (!rows.contains(key)) {
      REQUIRE(row == rows.size());
      rows[key] = row;
      kernels::encode(Codec::fixed(16, 12), shard.rows().at(row), 5, (key % 1000) * 0x1p-8f);
    }
    REQUIRE(row == rows[key]);
    REQUIRE(weights_of(shard.rows(), row)[5] == static_cast<float>(key % 1000) * 0x1p-8f);
  }
  CHECK(shard.index().size() == sights.size());
  CHECK(shard.rows().size() == rows.size());
  CHECK(shard.overflow_slot() == nullptr);
  CHECK(shard.overflow_row() == kNoRow);
  std::size_t visited = 0;
  shard.for_each([&](const Slot& slot) {
    ++visited;
    CHECK(shard.row_of(slot) == (rows.contains(slot.key) ? rows[slot.key] : kNoRow));
  });
  CHECK(visited == sights.size());
}

TEST_CASE("with admit 0 a shard with many rows asks for more sights") {
  MemoryBudget budget(kMemory);
  Shard shard(options_of(0, RowLayout({part_of(1, 1, Codec::fixed(8, 5))})), budget);
  Key key = 1;
  for (const auto& [until, sights] : std::vector<std::pair<std::uint64_t, std::uint32_t>>{
           {4096, 2}, {8192, 6}, {16384, 10}, {16390, 14}}) {
    for (; shard.rows().size() < until; ++key) {
      for (std::uint32_t i = 1; i < sights; ++i) REQUIRE(meet(shard, key) == kNoRow);
      REQUIRE(meet(shard, key) == key - 1);
    }
  }
}

TEST_CASE("a shard without rows counts nothing") {
  MemoryBudget budget(kMemory);
  Shard shard(options_of(1, {}), budget);
  CHECK_FALSE(shard.has_rows());
  CHECK(meet(shard, 5) == kNoRow);
  CHECK(shard.find(5)->ref == RowRef());
  CHECK(known(shard, 5) == kNoRow);
  CHECK(known(shard, 6) == kNoRow);
}

TEST_CASE("what is forgotten is as if it had never come") {
  const CellKind cells = GENERATE(CellKind::kNone, CellKind::kFtrl, CellKind::kMixed);
  MemoryBudget budget(kMemory), other_budget(kMemory);
  Shard shard(options_of(2, layout_of_slots(3), cells), budget);
  Shard never(options_of(2, layout_of_slots(3), cells), other_budget);
  const auto forgotten = [](Key key) { return key % 3 == 1; };
  const auto meet_all = [&](Shard& to, Key from, Key end, bool all) {
    for (Key key = from; key < end; ++key) {
      if (!all && forgotten(key)) continue;
      for (Key sight = 0; sight < 1 + key % 2; ++sight) meet(to, key);
      Slot& slot = *to.find_or_insert(key);
      if (cells == CellKind::kNone) continue;
      cell_of(&slot)->weight = static_cast<float>(key);
      if (cells != CellKind::kMixed) continue;
      to.raise_largest_value(slot, key % 5 == 0 ? 3.0f : 1.0f);
      mixed(*cell_of(&slot)).count += 1;
    }
  };
  meet_all(shard, 1, 3000, true);
  meet_all(never, 1, 3000, false);
  CHECK(shard.forget([&](const Slot& slot) { return forgotten(slot.key); }) == 1000);
  CHECK(shard.forget([&](const Slot& slot) { return forgotten(slot.key); }) == 0);
  meet_all(shard, 3000, 4000, false);
  meet_all(never, 3000, 4000, false);
  CHECK(budget.used() == other_budget.used());
  CHECK(shard.index().capacity() == never.index().capacity());
  CHECK(shard.index().size() == never.index().size());
  CHECK(shard.rows().size() == never.rows().size());
  CHECK(shard.largest_values().size() == never.largest_values().size());
  never.for_each([&](const Slot& slot) {
    const Slot* const same = shard.find(slot.key);
    REQUIRE(same != nullptr);
    REQUIRE(same->ref.has_row() == slot.ref.has_row());
    if (slot.ref.has_row()) {
      REQUIRE(content(shard.rows(), same->ref.row()) == content(never.rows(), slot.ref.row()));
    } else {
      REQUIRE(same->ref.occurrences() == slot.ref.occurrences());
    }
    if (cells == CellKind::kNone) return;
    REQUIRE(cell_of(same)->weight == cell_of(&slot)->weight);
    if (cells == CellKind::kMixed) {
      REQUIRE(shard.largest_value(*same) == never.largest_value(slot));
    }
  });
}

TEST_CASE("all rows get new slots: those of features, and that of the others") {
  const auto options = [](std::uint32_t slots) { return options_of(1, layout_of_slots(slots)); };
  // Room for some dozens of rows; what is made beyond the budget is the row of the others.
  MemoryBudget budget(8000), other_budget(8000);
  Shard grown(options(2), budget), whole(options(4), other_budget);
  Key key = 1;
  for (; whole.overflow_row() == kNoRow; ++key) meet(whole, key);
  MemoryBudget enough(kMemory);
  Shard same(options(2), enough);
  for (Key k = 1; k < key - 1; ++k) meet(same, k);
  for (key = 1; grown.overflow_row() == kNoRow; ++key) meet(grown, key);
  grown.set_slots(4);
  same.set_slots(4);
  CHECK(grown.options().rows.parts()[0].slots == 4);
  CHECK(bytes_of(grown.rows(), grown.overflow_row()) ==
        bytes_of(whole.rows(), whole.overflow_row()));
  for (Row row = 0; row < whole.overflow_row(); ++row) {
    REQUIRE(bytes_of(grown.rows(), row) == bytes_of(whole.rows(), row));
    REQUIRE(bytes_of(same.rows(), row) == bytes_of(whole.rows(), row));
  }
}

// ---- largest |value| ----

/// A shard that learns from values as the optimizer does.
struct Values {
  MemoryBudget budget{kMemory};
  Shard shard{options_of(1, {}, CellKind::kMixed), budget};

  void learn(Key key, float value) {
    Slot* const slot = shard.find_or_insert(key);
    shard.raise_largest_value(*slot, value);
    mixed(*cell_of(slot)).count += 1;
  }
  float largest(Key key) { return shard.largest_value(*shard.find_or_insert(key)); }
  bool bit(Key key) { return shard.find(key)->ref.has_largest_value(); }
};

TEST_CASE("the largest value is 0 before the first, and that of all after it") {
  const std::vector<float> values =
      GENERATE(std::vector<float>{1, 3, 0.5f}, std::vector<float>{0.5f, 0.25f, 1, 2},
               std::vector<float>{0, 0, 0.5f}, std::vector<float>{1, 1, 0.5f, 1},
               std::vector<float>{3, 1, 4, 1, 5}, std::vector<float>{0.5f, 1, 0.5f},
               std::vector<float>{0, 1}, std::vector<float>{1, 0});
  Values learned;
  CHECK(learned.largest(7) == 0);
  float largest = 0;
  bool only_ones = true;
  for (const float value : values) {
    learned.learn(7, value);
    learned.learn(8, 1);
    largest = std::max(largest, value);
    CHECK(learned.largest(7) == largest);
    only_ones = only_ones && value == 1;
  }
  CHECK(learned.largest(8) == 1);
  CHECK(learned.largest(9) == 0);
  CHECK_FALSE(learned.bit(8));
}

TEST_CASE("a largest value takes memory where it is not 1, and a bit says so") {
  Values learned;
  for (const float value : {1.0f, 0.5f, 0.0f, 1.0f}) learned.learn(1, value);
  CHECK_FALSE(learned.bit(1));
  CHECK(learned.shard.largest_values().size() == 0);
  learned.learn(1, 2);
  CHECK(learned.bit(1));
  learned.learn(2, 0);
  CHECK(learned.bit(2));
  CHECK(learned.largest(2) == 0);
  CHECK(learned.shard.largest_values().size() == 2);
  const auto* const stored =
      reinterpret_cast<const LargestValue*>(learned.shard.largest_values().find(1));
  CHECK(stored->key == 1);
  CHECK(stored->value == 2);
}

TEST_CASE("largest values and rows of one feature do not disturb each other") {
  MemoryBudget budget(kMemory);
  Shard shard(options_of(3, layout_of_slots(3), CellKind::kMixed), budget);
  for (Key key = 1; key <= 3000; ++key) {
    shard.raise_largest_value(*shard.find_or_insert(key), static_cast<float>(key % 5));
    mixed(*cell_of(shard.find_or_insert(key))).count += 1;
    meet(shard, key);
  }
  for (int sight = 1; sight < 3; ++sight) {
    for (Key key = 1; key <= 3000; ++key) meet(shard, key);
  }
  for (Key key = 1; key <= 3000; ++key) {
    REQUIRE(known(shard, key) == key - 1);
    REQUIRE(shard.largest_value(*shard.find(key)) == static_cast<float>(key % 5));
    REQUIRE(shard.find(key)->ref.has_largest_value() == (key % 5 != 1));
  }
}

TEST_CASE("without memory for its largest value a feature's is 1, and the others keep theirs") {
  MemoryBudget budget(kMemory);
  Shard shard(options_of(1, {}, CellKind::kMixed), budget);
  shard.reserve(5000, 0);
  REQUIRE(budget.take(budget.limit() - budget.used()));
  std::uint32_t ones = 0;
  for (Key key = 1; key <= 1000; ++key) {
    Slot* const slot = shard.find_or_insert(key);
    shard.raise_largest_value(*slot, 4);
    mixed(*cell_of(slot)).count += 1;
    const bool stored = key <= Index::kFirstSlots / 4 * 3;
    REQUIRE(slot->ref.has_largest_value() == stored);
    REQUIRE(shard.largest_value(*slot) == (stored ? 4 : 1));
    ones += !stored;
  }
  CHECK(ones > 0);
  // The slot of all others has none.
  Key key = 1000;
  while (shard.overflow_slot() == nullptr) shard.find_or_insert(++key);
  Slot* const overflow = shard.find_or_insert(key);
  REQUIRE(overflow == shard.overflow_slot());
  shard.raise_largest_value(*overflow, 9);
  CHECK_FALSE(overflow->ref.has_largest_value());
}

// ---- loading ----

TEST_CASE("keys of a file have the slots that they had, whatever the limit of memory") {
  MemoryBudget budget(kMemory), little(1);
  Shard shard(options_of(1), budget), loaded(options_of(1), little);
  for (Key key = 1; key <= 3000; ++key) shard.find_or_insert(key * 31);
  loaded.reserve_to_load(shard.index().size());
  std::vector<Key> keys;
  for (const std::uint32_t i : shard.index().in_order()) {
    keys.push_back(shard.slot(i)->key);
    const Slot* const slot = loaded.load_key(keys.back());
    REQUIRE(slot == loaded.find(keys.back()));
  }
  CHECK(loaded.index().size() == keys.size());
  CHECK(loaded.index().capacity() == shard.index().capacity());
  const std::vector<std::uint32_t> order = loaded.index().in_order();
  REQUIRE(order.size() == keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) REQUIRE(loaded.slot(order[i])->key == keys[i]);
  CHECK(loaded.load_key(keys[7]) == loaded.find(keys[7]));
  CHECK(loaded.load_largest(keys[7], 3));
  CHECK(loaded.find(keys[7])->ref.has_largest_value());
  CHECK(loaded.largest_value(*loaded.find(keys[7])) == 3);
  CHECK_FALSE(loaded.load_largest(5, 3));
}

}  // namespace
}  // namespace leveret::table
