#include "model/hot_copies.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "int16_near.h"
#include "kernels/dispatch.h"
#include "model/model.h"

namespace leveret::model {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;

std::vector<FieldTable> tables_with_rows(std::uint32_t tables, std::uint32_t rows,
                                         kernels::Codec codec, MemoryBudget& budget,
                                         bool slice_state = true) {
  FieldTableOptions options;
  options.admit = 1;
  options.init_width = 0.5f;
  std::vector<FieldTable> made;
  made.reserve(tables);
  for (std::uint32_t f = 0; f < tables; ++f) {
    made.emplace_back(f, options, RowShape{5, 4, slice_state, 0.25f, codec}, budget);
    for (std::uint32_t key = 1; key <= rows; ++key) made[f].touch(key);
  }
  return made;
}

TEST_CASE("the first rows of a field have copies, once they are counted") {
  MemoryBudget budget(kMemory);
  std::vector<FieldTable> tables = tables_with_rows(3, HotRows::kRowsOfField + 2, kInt16, budget);
  HotRows hot;
  CHECK(hot.find(0, 0) == nullptr);
  CHECK(HotRows::count(tables) == std::vector<std::uint32_t>(3, HotRows::kRowsOfField));
  const std::vector<std::uint32_t> counts{1, HotRows::kRowsOfField};  // the third field is new
  hot.take(tables, counts);
  CHECK(hot.find(0, 0) != nullptr);
  CHECK(hot.find(0, 1) == nullptr);
  CHECK(hot.find(1, HotRows::kRowsOfField - 1) != nullptr);
  CHECK(hot.find(1, HotRows::kRowsOfField) == nullptr);
  CHECK(hot.find(2, 0) == nullptr);
  CHECK(hot.find(1, kNoRow) == nullptr);
  hot.take(tables, std::vector<std::uint32_t>{});
  CHECK(hot.find(0, 0) == nullptr);
}

TEST_CASE("where rows are long fewer of them have copies") {
  MemoryBudget budget(kMemory);
  std::vector<FieldTable> tables;
  FieldTableOptions options;
  options.admit = 1;
  for (std::uint32_t f = 0; f < 16; ++f) {
    tables.emplace_back(f, options, RowShape{600, 8, true, 0.25f, kInt16}, budget);
    for (std::uint32_t key = 1; key <= 4; ++key) tables[f].touch(key);
  }
  REQUIRE(tables[0].shape().stride() > HotRows::kMostBytes / 16 / 2);
  CHECK(HotRows::count(tables) == std::vector<std::uint32_t>(16, 1));
}

TEST_CASE("what two threads have learned into their copies of a row is added up") {
  const auto codec = GENERATE(kernels::Codec::f32(), kInt16);
  const bool slice_state = GENERATE(true, false);
  // The unit is 2^-12.
  const float tolerance = codec == kernels::Codec::f32() ? 1e-6f : 0x1.8p-12f;
  MemoryBudget budget(kMemory);
  std::vector<FieldTable> tables = tables_with_rows(2, 4, codec, budget, slice_state);
  const RowShape shape = tables[1].shape();
  const std::size_t weights[] = {0, 7, shape.weights() - 1};
  const std::size_t states[] = {0, 1, shape.state() - 1};
  for (Row row = 0; row < 4; ++row) {
    for (const std::size_t i : weights) tables[1].set_weight(row, i, 0.5f);
  }
  const std::vector<std::uint32_t> counts = HotRows::count(tables);
  HotRows one, other;
  one.take(tables, counts);
  other.take(tables, counts);
  for (const std::size_t i : weights) {
    encode(codec, one.find(1, 2), i, 0.75f);
    encode(codec, other.find(1, 2), i, 0.375f);
  }
  for (const std::size_t i : states) {
    shape.set_state(one.find(1, 2), i, 2.25f);
    shape.set_state(other.find(1, 2), i, 0.75f);
  }
  CHECK(tables[1].weight(2, 7) == 0.5f);
  one.exchange(tables, kernels::active());
  other.exchange(tables, kernels::active());
  one.exchange(tables, kernels::active());  // takes what the other has learned, and adds nothing
  for (const std::size_t i : weights) {
    CHECK(std::fabs(tables[1].weight(2, i) - 0.625f) <= tolerance);
    CHECK(tables[1].weight(3, i) == 0.5f);
    CHECK(decode(codec, one.find(1, 2), i) == tables[1].weight(2, i));
    CHECK(decode(codec, other.find(1, 2), i) == tables[1].weight(2, i));
  }
  for (const std::size_t i : states) {
    CHECK(tables[1].state(2, i) == 2.75f);
    CHECK(tables[1].state(3, i) == 0.25f);
    CHECK(shape.state_of(one.find(1, 2), i) == 2.75f);
    CHECK(shape.state_of(other.find(1, 2), i) == 2.75f);
  }
}

/// The cells of these hashes, as an example that comes after `exchange` finds them.
std::vector<float*> look_up(HotCells& hot, LinearTable& table, std::vector<std::uint32_t> hashes) {
  std::vector<text::Feature> features;
  for (const std::uint32_t hash : hashes) features.push_back({hash, 1.0f});
  std::vector<float*> cells(features.size());
  table.prefetch_homes(features, cells.data());
  hot.find(features, cells.data());
  table.find_or_insert_all(features, cells.data());
  hot.claim(features, cells.data());
  return cells;
}

Spec with_heads(Heads heads) {
  Spec spec;
  spec.heads = heads;
  return spec;
}

TEST_CASE("cells of the first examples get a place, and keep it as long as they change") {
  const std::uint32_t bits = GENERATE(0, 12);
  MemoryBudget budget(kMemory);
  LinearTable table(bits, kPlainCell, budget);
  HotCells hot(with_heads(Heads::kOne));
  CHECK(look_up(hot, table, {77})[0] == table.find_or_insert(77));  // before `exchange`
  hot.exchange(table);
  // 77 twice, one that has the same place, and the hash that is no key.
  const std::vector<float*> cells = look_up(hot, table, {77, 77, 77 + HotCells::kPlaces, 0, 78});
  CHECK(cells[0] != table.find(77));
  CHECK(cells[1] == cells[0]);
  CHECK(cells[2] == table.find(77 + HotCells::kPlaces));
  CHECK(cells[3] == table.find(0));
  CHECK(cells[4] != table.find(78));
  for (std::uint32_t i = 1; i < HotCells::kExamplesThatClaim; ++i) look_up(hot, table, {});
  CHECK(look_up(hot, table, {79})[0] == table.find_or_insert(79));
  CHECK(look_up(hot, table, {77})[0] == cells[0]);

  cells[0][kWeight] = 3;
  CHECK(table.find(77)[kWeight] == 0);
  table.find_or_insert(77)[kWeight] = 1;  // by another thread
  hot.exchange(table);
  CHECK(table.find(77)[kWeight] == 4);
  CHECK(look_up(hot, table, {77})[0] == cells[0]);
  CHECK(cells[0][kWeight] == 4);
  // 78 has not been used: its place is free.
  CHECK(look_up(hot, table, {78 + HotCells::kPlaces})[0] == cells[4]);
  hot.exchange(table);
  CHECK(table.find(77)[kWeight] == 4);
}

TEST_CASE("what two threads have learned into their copies of a cell is added up") {
  MemoryBudget budget(kMemory);
  LinearTable table(0, kMixedCell, budget);
  float* const cell = table.find_or_insert(5);
  const float before[kMixedCell] = {1, 2, 3, 4, 10, 20, 2};
  std::copy_n(before, kMixedCell, cell);
  HotCells one(with_heads(Heads::kMixed)), other(with_heads(Heads::kMixed));
  one.exchange(table);
  other.exchange(table);
  float* const first = look_up(one, table, {5})[0];
  float* const second = look_up(other, table, {5})[0];
  first[kWeight] += 0.25f;
  first[kSum2] += 1;
  second[kWeight] -= 0.5f;
  second[kCount] += 7;
  first[kMaxValue] = 5;
  second[kMaxValue] = 3;
  SECTION("counts go on") {
    first[kClicks] += 1;
    first[kCount] += 3;
    one.exchange(table);
    other.exchange(table);
    CHECK(std::vector<float>(cell, cell + kMixedCell) ==
          std::vector<float>{0.75f, 2, 3, 5, 11, 30, 5});
    CHECK(std::equal(second, second + kMixedCell, cell));
  }
  SECTION("counts are halved, and then may grow beyond what they were") {
    const auto [clicks, count] =
        GENERATE(std::pair<float, float>(5, 10), std::pair<float, float>(6, 25));
    first[kClicks] = clicks;
    first[kCount] = count;
    other.exchange(table);
    one.exchange(table);
    CHECK(std::vector<float>(cell, cell + kMixedCell) ==
          std::vector<float>{0.75f, 2, 3, 5, clicks, count, 5});
  }
}

}  // namespace
}  // namespace leveret::model
