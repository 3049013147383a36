#include "table/tables.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "layouts.h"
#include "table/meet.h"

namespace leveret::table {
namespace {

ShardOptions tables_of(std::uint32_t slots, CellKind cells = CellKind::kMixed) {
  ShardOptions options;
  options.cells = cells;
  options.admission.admit = 1;
  options.seed = 42;
  if (slots > 0) options.rows = layout_of_two_parts(slots);
  return options;
}

TEST_CASE("a model without rows has one shard for all features") {
  Tables tables(tables_of(0), 0, kMemory);
  tables.fit(5);
  CHECK(tables.size() == 1);
  CHECK(tables.fields() == 0);
  CHECK_FALSE(tables.has_rows());
  CHECK(&tables.of_feature_group(0) == &tables[0]);
  CHECK(&tables.of_feature_group(3) == &tables[0]);
  CHECK(tables.hashed() == nullptr);
  CHECK(tables.cells() == CellKind::kMixed);
}

TEST_CASE("with rows each field has a shard, and features without a field have one") {
  Tables tables(tables_of(1), 0, kMemory);
  CHECK(tables.size() == 1);
  tables.fit(3);
  CHECK(tables.size() == 4);
  CHECK(tables.fields() == 3);
  CHECK_FALSE(tables[0].has_rows());
  CHECK(&tables.of_feature_group(0) == &tables[0]);
  for (std::uint32_t f = 0; f < 3; ++f) {
    CHECK(&tables.field(f) == &tables[f + 1]);
    CHECK(&tables.of_feature_group(f + 1) == &tables.field(f));
    CHECK(tables.field(f).options().field == f);
    CHECK(tables.field(f).has_rows());
    CHECK(tables.field(f).cells() == CellKind::kMixed);
  }
  std::size_t shard = 0;
  for (const Shard& at : std::as_const(tables)) CHECK(&at == &tables[shard++]);
  CHECK(shard == 4);
  for (Shard& at : tables) CHECK(&at == &tables[4 - shard--]);
  CHECK(&std::as_const(tables).field(1) == &tables[2]);
}

TEST_CASE("fit gives every row a slot for each field, as if it had been there from the start") {
  Tables grown(tables_of(1), 0, kMemory), whole(tables_of(1), 0, kMemory);
  whole.fit(5);
  std::vector<Shard*> shards;
  for (const std::uint32_t fields : {1u, 2u, 5u}) {
    grown.fit(fields);
    CHECK(grown.row_layout().parts()[0].slots == fields);
    for (std::uint32_t f = 0; f < fields; ++f) {
      CHECK(grown.field(f).rows().layout().parts()[0].slots == fields);
      CHECK(grown.field(f).options().rows.stride() == grown.row_layout().stride());
      for (Key key = fields * 100; key < fields * 100 + 50; ++key) {
        REQUIRE(meet(grown.field(f), key) == meet(whole.field(f), key));
      }
      // Shards stay where they are.
      if (f < shards.size()) CHECK(shards[f] == &grown.field(f));
      if (f == shards.size()) shards.push_back(&grown.field(f));
    }
  }
  grown.fit(2);  // never fewer
  CHECK(grown.fields() == 5);
  for (std::uint32_t f = 0; f < 5; ++f) {
    const Rows &a = grown.field(f).rows(), &b = whole.field(f).rows();
    REQUIRE(a.size() == b.size());
    for (Row row = 0; row < a.size(); ++row) REQUIRE(bytes_of(a, row) == bytes_of(b, row));
  }
  CHECK(meet(grown.field(0), 9999) != kNoRow);
  CHECK(weights_of(grown.field(0).rows(), 0) != weights_of(grown.field(1).rows(), 0));
}

TEST_CASE("a linear feature is found in the shard of its group") {
  Tables tables(tables_of(1), 0, kMemory);
  tables.fit(2);
  for (std::uint32_t group = 0; group < 3; ++group) {
    Slot* const slot = tables.of_feature_group(group).find_or_insert(key_of(0));
    cell_of(slot)->weight = static_cast<float>(group + 1);
    tables.of_feature_group(group).raise_largest_value(*slot, static_cast<float>(group + 5));
  }
  for (std::uint32_t group = 0; group < 3; ++group) {
    const Cell* const cell = tables.find_cell(group, 0);
    REQUIRE(cell != nullptr);
    CHECK(cell->weight == static_cast<float>(group + 1));
    CHECK(tables.largest_value(group, 0) == static_cast<float>(group + 5));
    CHECK(tables.find_cell(group, 7) == nullptr);
    CHECK(tables.largest_value(group, 7) == 0);
  }
}

TEST_CASE("with -b cells have no keys, and rows are found by keys all the same") {
  const bool rows = GENERATE(true, false);
  Tables tables(tables_of(rows ? 1 : 0), 10, kMemory);
  tables.fit(2);
  REQUIRE(tables.hashed() != nullptr);
  CHECK(tables.hashed()->capacity() == 1024);
  CHECK(tables.cells() == CellKind::kMixed);
  for (const Shard& shard : tables) CHECK(shard.cells() == CellKind::kNone);
  tables.hashed()->find(5)->weight = 2;
  hashed(*tables.hashed()->find(5)).largest_value = 3;
  for (std::uint32_t group = 0; group < 3; ++group) {
    CHECK(tables.find_cell(group, 5 + 1024) == tables.hashed()->at(5));
    CHECK(tables.largest_value(group, 5) == 3);
  }
  if (rows) CHECK(meet(tables.field(1), 5) == 0);
}

TEST_CASE("look-ups that ended in overflow slots and rows are counted over all shards") {
  Tables tables(tables_of(1), 0, 100000);
  tables.fit(2);
  CHECK(tables.overflow_lookups() == 0);
  std::uint64_t found = 0;
  for (Key key = 1; key <= 5000; ++key) {
    for (Shard& shard : tables) {
      Slot* const slot = shard.find_or_insert(key);
      const Row row = shard.count_and_find(*slot);
      found += slot == shard.overflow();
      found += row != kNoRow && row == shard.overflow_row();
    }
  }
  CHECK(found > 1000);
  CHECK(tables.overflow_lookups() == found);
  // What is not known is answered by the slot of the others.
  const Shard& rest = tables[0];
  REQUIRE(rest.overflow_slot() != nullptr);
  CHECK(tables.find_cell(0, 123456) == cell_of(rest.overflow_slot()));
  CHECK(tables.largest_value(0, 123456) == 0);
  CHECK(tables.budget().limit() == 100000);
  CHECK(tables.budget().used() > 90000);
}

TEST_CASE("shards that come later know of the threads, too") {
  Tables tables(tables_of(1), 0, kMemory);
  tables.fit(1);
  tables.set_concurrent(true);
  tables.fit(2);
  for (Shard& shard : tables) {
    for (Key key = 1; key <= 100; ++key) shard.find_or_insert(key);
    CHECK(shard.index().capacity() == Index::kFirstSlots);
    CHECK(shard.overflow_slot() != nullptr);
  }
  tables.set_concurrent(false);
  for (Shard& shard : tables) {
    for (Key key = 1; key <= 100; ++key) CHECK(shard.find_or_insert(key)->key == key);
  }
}

}  // namespace
}  // namespace leveret::table
