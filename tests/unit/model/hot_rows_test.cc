#include "model/hot_rows.h"

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

TEST_CASE("the first rows of a field have copies, once they are counted") {
  Tables tables(options_of(kInt16, state_of(kernels::Codec::bf16())), 0, kMemory);
  CHECK(HotRows::count(tables).empty());
  add_rows(tables, 3, HotRows::kRowsOfField + 2);
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
  CHECK(hot.find(1, table::kNoRow) == nullptr);
  hot.take(tables, std::vector<std::uint32_t>{});
  CHECK(hot.find(0, 0) == nullptr);
}

TEST_CASE("a field has as many copies as it has rows, a model without rows none") {
  Tables few(options_of(kInt16, state_of(kernels::Codec::bf16())), 0, kMemory);
  add_rows(few, 2, 3);
  few.field(1).count_and_find(*few.field(1).find_or_insert(99));
  CHECK(HotRows::count(few) == std::vector<std::uint32_t>{3, 4});
  const Tables none({}, 0, kMemory);
  CHECK(HotRows::count(none).empty());
}

TEST_CASE("where rows are long fewer of them have copies") {
  Tables tables(options_of(kInt16, state_of(kernels::Codec::bf16()), 256), 0, kMemory);
  add_rows(tables, 16, 4);
  REQUIRE(tables.row_layout().stride() > HotRows::kMostBytes / 16 / 2);
  CHECK(HotRows::count(tables) == std::vector<std::uint32_t>(16, 1));
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
  const std::vector<std::uint32_t> counts = HotRows::count(tables);
  HotRows one, other;
  one.take(tables, counts);
  other.take(tables, counts);
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
