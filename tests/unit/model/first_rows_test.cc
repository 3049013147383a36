#include "model/first_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "int16_near.h"

namespace leveret::model {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;

std::vector<FieldTable> tables_of(std::uint32_t fields, RowShape shape, MemoryBudget& budget) {
  FieldTableOptions options;
  options.admit = 1;
  std::vector<FieldTable> tables;
  tables.reserve(fields);
  for (std::uint32_t f = 0; f < fields; ++f) tables.emplace_back(f, options, shape, budget);
  return tables;
}

std::vector<std::byte> stored_rows(const FieldTable& table) {
  const std::byte* const first = table.row_arena().data();
  return {first, first + table.rows() * table.shape().stride()};
}

/// Makes rows for `count` keys from `first` on, and learns something into them.
void learn(std::vector<FieldTable>& tables, std::uint32_t first, std::uint32_t count) {
  for (FieldTable& table : tables) {
    for (std::uint32_t key = first; key < first + count; ++key) {
      const Row row = table.touch(key);
      table.set_weight(row, key % table.shape().weights(), 0.25f);
      table.set_state(row, key % table.shape().state(), 3);
    }
  }
}

TEST_CASE("tables with lent memory store what those without store") {
  const RowShape shape{3, 16, true, 0.5f, kInt16};
  constexpr std::uint32_t kFields = 5;
  constexpr std::uint32_t kMany = 2 * FirstRows::kBytes / kFields / 128;  // more than fit
  MemoryBudget budget(kMemory), other_budget(kMemory);
  std::vector<FieldTable> lent = tables_of(kFields, shape, budget);
  std::vector<FieldTable> alone = tables_of(kFields, shape, other_budget);
  FirstRows first;
  const auto same = [&] {
    for (std::uint32_t f = 0; f < kFields; ++f) {
      REQUIRE(stored_rows(lent[f]) == stored_rows(alone[f]));
    }
  };
  const auto both = [&](auto&& change) {
    change(lent);
    change(alone);
  };
  both([](auto& tables) { learn(tables, 0, 10); });
  first.lend_to(lent);  // with rows that are there, and room for others
  same();
  both([](auto& tables) { learn(tables, 5, kMany); });
  same();
  both([](auto& tables) {
    for (FieldTable& table : tables) table.set_slots(7);
  });
  same();
  both([](auto& tables) { learn(tables, 0, 20); });
  first.lend_to(lent);
  first.lend_to(lent);  // again, from the memory lent before
  both([](auto& tables) { learn(tables, kMany, 50); });
  same();
}

TEST_CASE("lent are the first rows of all fields, within one huge page") {
  const std::uint32_t fields = GENERATE(1, 39, 200);
  const RowShape shape{fields, 8, true, 0.5f, kInt16};
  MemoryBudget budget(kMemory);
  std::vector<FieldTable> tables = tables_of(fields, shape, budget);
  FirstRows first;
  first.lend_to(tables);
  learn(tables, 0, 2);
  std::vector<const std::byte*> at;
  for (const FieldTable& table : tables) {
    at.push_back(table.at(0));
    CHECK(table.at(1) == table.at(0) + shape.stride());
  }
  CHECK(std::is_sorted(at.begin(), at.end()));
  const std::size_t apart = fields > 1 ? static_cast<std::size_t>(at[1] - at[0]) : 64;
  CHECK(apart / 64 % 2 == 1);
  CHECK(static_cast<std::size_t>(at.back() - at[0]) + 2 * shape.stride() <= FirstRows::kBytes);
}

TEST_CASE("rows that do not fit into a huge page are not lent") {
  const RowShape shape{4096, 64, true, 0.5f, kInt16};
  MemoryBudget budget(kMemory);
  std::vector<FieldTable> tables = tables_of(39, shape, budget);
  FirstRows first;
  first.lend_to(tables);
  learn(tables, 0, 1);
  CHECK(tables[0].at(0) == tables[0].row_arena().data());
}

}  // namespace
}  // namespace leveret::model
