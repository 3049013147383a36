#include "model/hot_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "int16_near.h"
#include "kernels/dispatch.h"

namespace leveret::model {
namespace {

using table::Row;
using table::RowLayout;
using table::RowPart;
using table::RowState;
using table::Tables;

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;

/// Of fields whose features get their rows at once.
table::ShardOptions options_of(kernels::Codec weights, RowState state, std::uint32_t k = 4) {
  RowPart part;
  part.k = part.used_k = k;
  part.codec = weights;
  part.init_width = 0.5f;
  part.states = {state};
  table::ShardOptions options;
  options.rows = RowLayout({part});
  options.admission.admit = 1;
  return options;
}

RowState state_of(kernels::Codec codec, RowState::Per per = RowState::Per::kSlot) {
  return {codec, per, 0.25f};
}

void add_rows(Tables& tables, std::uint32_t fields, std::uint32_t rows) {
  tables.fit(fields);
  for (std::uint32_t f = 0; f < fields; ++f) {
    for (table::Key key = 1; key <= rows; ++key) {
      tables.field(f).count_and_find(*tables.field(f).find_or_insert(key));
    }
  }
}

HotRows::Choice chosen(const Tables& tables) {
  HotRows::Choice choice;
  HotRows::choose(tables, choice);
  return choice;
}

/// Rows of a field that have been chosen.
std::vector<Row> rows_of(const HotRows::Choice& choice, std::uint32_t field) {
  std::vector<Row> rows;
  for (const Row row : choice.fields.at(field)) {
    if (row != table::kNoRow) rows.push_back(row);
  }
  return rows;
}

TEST_CASE("the rows of a field that are needed most have copies, wherever they lie") {
  using table::CellKind;
  const CellKind cells = GENERATE(CellKind::kMixed, CellKind::kAdagrad, CellKind::kNone);
  table::ShardOptions options = options_of(kInt16, state_of(kernels::Codec::bf16()));
  options.cells = cells;
  Tables tables(options, 0, kMemory);
  CHECK(chosen(tables).fields.empty());
  add_rows(tables, 3, 20);
  // Of field 1 those from row 12 on, the last most.
  tables.field(1).for_each([&](const table::Slot& slot) {
    const Row row = slot.ref.row();
    const float often = row < 12 ? 1.0f : static_cast<float>(row);
    auto* const cell = const_cast<table::Cell*>(table::cell_of(&slot));
    if (cells == CellKind::kMixed) table::mixed(*cell).count = often;
    if (cells == CellKind::kAdagrad) cell->sum = often;
    table::Rows& rows = tables.field(1).rows();
    const RowLayout::Column& sums = rows.layout().state(0, 0);
    kernels::encode(sums.codec, rows.at(row) + sums.begin, 0, often);
  });
  const HotRows::Choice choice = chosen(tables);
  CHECK(rows_of(choice, 0) == std::vector<Row>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(rows_of(choice, 1) == std::vector<Row>{19, 18, 17, 16, 15, 14, 13, 12});
  HotRows hot;
  CHECK(hot.find(0, 0) == nullptr);
  hot.take(tables, choice);
  CHECK(hot.find(1, 11) == nullptr);
  CHECK(hot.find(1, 0) == nullptr);
  CHECK(hot.find(1, table::kNoRow) == nullptr);
  CHECK(hot.find(3, 0) == nullptr);
  for (Row row = 12; row < 20; ++row) {
    const std::byte* const copy = hot.find(1, row);
    REQUIRE(copy != nullptr);
    CHECK(std::equal(copy, copy + tables.row_layout().stride(), tables.field(1).rows().at(row)));
  }
  hot.take(tables, {});
  CHECK(hot.find(1, 19) == nullptr);
}

TEST_CASE("what has copies is chosen again when there are new fields, or twice the rows") {
  Tables tables(options_of(kInt16, state_of(kernels::Codec::bf16())), 0, kMemory);
  add_rows(tables, 1, 3);
  HotRows::Choice choice = chosen(tables);
  CHECK(choice.among == 3);
  add_rows(tables, 1, 5);
  HotRows::choose(tables, choice);
  CHECK(rows_of(choice, 0).size() == 3);
  add_rows(tables, 1, 6);
  HotRows::choose(tables, choice);
  CHECK(rows_of(choice, 0).size() == 6);
  add_rows(tables, 2, 6);
  tables.fit(2);
  HotRows::choose(tables, choice);
  CHECK(rows_of(choice, 1).size() == 6);
}

TEST_CASE("a field has as many copies as it has rows, a model without rows none") {
  Tables few(options_of(kInt16, state_of(kernels::Codec::bf16())), 0, kMemory);
  add_rows(few, 2, 3);
  few.field(1).count_and_find(*few.field(1).find_or_insert(99));
  CHECK(rows_of(chosen(few), 0).size() == 3);
  CHECK(rows_of(chosen(few), 1).size() == 4);
  const Tables none({}, 0, kMemory);
  CHECK(chosen(none).fields.empty());
}

TEST_CASE("where rows are long fewer of them have copies") {
  Tables tables(options_of(kInt16, state_of(kernels::Codec::bf16()), 256), 0, kMemory);
  add_rows(tables, 16, 4);
  REQUIRE(tables.row_layout().stride() > HotRows::kMostBytes / 16 / 2);
  for (std::uint32_t f = 0; f < 16; ++f) CHECK(rows_of(chosen(tables), f) == std::vector<Row>{0});
}

/// Number i of a column of a row.
float number(const RowLayout::Column& column, const std::byte* row, std::size_t i) {
  return kernels::decode(column.codec, row + column.begin, i);
}
void set_number(const RowLayout::Column& column, std::byte* row, std::size_t i, float value) {
  kernels::encode(column.codec, row + column.begin, i, value);
}

TEST_CASE("what two threads have learned into their copies of a row is added up") {
  const kernels::Codec codec = GENERATE(kernels::Codec::f32(), kInt16);
  const RowState state = GENERATE(state_of(kernels::Codec::f32()), state_of(kernels::Codec::bf16()),
                                  state_of(kernels::Codec::f32(), RowState::Per::kWeight));
  const double tolerance = codec == kInt16 ? kInt16Near : 1e-6;
  Tables tables(options_of(codec, state), 0, kMemory);
  add_rows(tables, 3, 4);
  table::Rows& rows = tables.field(1).rows();
  const RowLayout::Column &weights = rows.layout().weights(0), &sums = rows.layout().state(0, 0);
  const std::size_t some_weights[] = {0, 7, weights.count - 1};
  const std::size_t some_sums[] = {0, 1, sums.count - 1};
  for (Row row = 0; row < 4; ++row) {
    for (const std::size_t i : some_weights) set_number(weights, rows.at(row), i, 0.5f);
  }
  const HotRows::Choice choice = chosen(tables);
  HotRows one, other;
  one.take(tables, choice);
  other.take(tables, choice);
  for (const std::size_t i : some_weights) {
    set_number(weights, one.find(1, 2), i, 0.75f);
    set_number(weights, other.find(1, 2), i, 0.375f);
  }
  for (const std::size_t i : some_sums) {
    set_number(sums, one.find(1, 2), i, 2.25f);
    set_number(sums, other.find(1, 2), i, 0.75f);
  }
  CHECK(number(weights, rows.at(2), 7) == 0.5f);
  one.sync(tables, kernels::active());
  other.sync(tables, kernels::active());
  one.sync(tables, kernels::active());  // takes what the other has learned, and adds nothing
  for (const std::size_t i : some_weights) {
    CHECK(std::fabs(number(weights, rows.at(2), i) - 0.625f) <= tolerance);
    CHECK(number(weights, rows.at(3), i) == 0.5f);
    CHECK(number(weights, one.find(1, 2), i) == number(weights, rows.at(2), i));
    CHECK(number(weights, other.find(1, 2), i) == number(weights, rows.at(2), i));
  }
  for (const std::size_t i : some_sums) {
    CHECK(number(sums, rows.at(2), i) == 2.75f);
    CHECK(number(sums, rows.at(3), i) == 0.25f);
    CHECK(number(sums, one.find(1, 2), i) == 2.75f);
    CHECK(number(sums, other.find(1, 2), i) == 2.75f);
  }
}

}  // namespace
}  // namespace leveret::model
