#include "modelfile/tables_io.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "saved_tables.h"

namespace leveret::modelfile {
namespace {

using files::read_bytes;
using files::TempFolder;
using kernels::Codec;
using table::all_layouts;
using table::NamedLayout;

/// FFM slots beside an embedding, rows without states, rows of 8 bits, and all the others.
std::vector<NamedLayout> layouts() { return all_layouts(kFields); }

TEST_CASE("rows of every kind are made, written, freed by key, used again, saved and loaded") {
  for (const auto& [name, layout] : layouts()) {
    INFO(name);
    const auto options = options_of(layout);
    const auto tables = make_tables(options);
    learn(*tables, 1, 400);
    for (std::uint32_t f = 0; f < kFields; ++f) {
      Shard& shard = tables->field(f);
      // More are freed than will be used again; of one field none is.
      for (std::uint32_t i = 2; f > 0 && i < 400; i += 7) shard.free_row(key_number(i));
    }
    learn(*tables, 1000, 30, 5);
    for (std::uint32_t f = 1; f < kFields; ++f) {
      REQUIRE(tables->field(f).rows().size() < tables->field(f).rows().end());
    }
    const TempFolder folder;
    save(*tables, folder / "a");
    for (const LoadBy by : {LoadBy::kReading, LoadBy::kMapping}) {
      const auto again = loaded(folder / "a", options, 0, table::kMemory, by);
      check_same(*tables, *again);
      save(*again, folder / "b");
      REQUIRE(read_bytes(folder / "a") == read_bytes(folder / "b"));
    }
  }
}

TEST_CASE("cells of every kind are saved and loaded, with keys and without") {
  const CellKind cells =
      GENERATE(CellKind::kNone, CellKind::kAdagrad, CellKind::kFtrl, CellKind::kMixed);
  const std::uint32_t bits = GENERATE(0, 6);
  const bool rows = GENERATE(true, false);
  if (bits > 0 && cells == CellKind::kNone) return;
  const auto options = options_of(rows ? table::layout_of_slots(kFields) : RowLayout(), cells);
  const auto tables = make_tables(options, bits);
  learn(*tables, 1, 300);
  const TempFolder folder;
  save(*tables, folder / "a");
  const auto again = loaded(folder / "a", options, bits);
  check_same(*tables, *again);
  save(*again, folder / "b");
  CHECK(read_bytes(folder / "a") == read_bytes(folder / "b"));
}

TEST_CASE("tables that know nothing are saved and loaded") {
  const auto options = options_of(table::layout_of_two_parts(kFields));
  const auto tables = make_tables(options), more = make_tables(options);
  const TempFolder folder;
  save(*tables, folder / "a");
  const auto again = loaded(folder / "a", options);
  check_same(*tables, *again);
  learn(*again, 1, 50);
  learn(*more, 1, 50);
  save(*again, folder / "b");
  save(*more, folder / "c");
  CHECK(read_bytes(folder / "b") == read_bytes(folder / "c"));
}

TEST_CASE("what is learned after loading is as if nothing had happened") {
  const auto options = options_of(table::layout_of_two_parts(kFields));
  const auto tables = make_tables(options);
  learn(*tables, 1, 300);
  const TempFolder folder;
  save(*tables, folder / "a");
  const auto again = loaded(folder / "a", options);
  for (Tables* const each : {tables.get(), again.get()}) {
    learn(*each, 200, 2000, 3);
    for (std::uint32_t i = 1; i < 1000; i += 5) each->field(1).free_row(key_number(i));
    learn(*each, 5000, 50);
  }
  save(*tables, folder / "b");
  save(*again, folder / "c");
  CHECK(read_bytes(folder / "b") == read_bytes(folder / "c"));
  for (std::size_t s = 0; s < tables->size(); ++s) {
    CHECK((*tables)[s].index().capacity() == (*again)[s].index().capacity());
  }
  CHECK(tables->budget().used() == again->budget().used());
}

TEST_CASE("the order in which keys were met does not show in a file") {
  const auto options = options_of(table::layout_of_slots(kFields));
  std::vector<std::uint32_t> order(3000);
  std::iota(order.begin(), order.end(), 1);
  std::mt19937 random(1);
  const TempFolder folder;
  for (const char* const name : {"a", "b", "c"}) {
    const auto tables = make_tables(options);
    for (Shard& shard : *tables) {
      if (*name == 'b') shard.reserve(20000, 20000);
      for (const std::uint32_t i : order) shard.find_or_insert(key_number(i));
    }
    // Rows come in one order.
    learn(*tables, 1, 3000);
    save(*tables, folder / name);
    std::shuffle(order.begin(), order.end(), random);
  }
  CHECK(read_bytes(folder / "a") == read_bytes(folder / "b"));
  CHECK(read_bytes(folder / "a") == read_bytes(folder / "c"));
  // All else does.
  const auto other = make_tables(options);
  learn(*other, 1, 2999);
  learn(*other, 3000, 1, 1);
  save(*other, folder / "d");
  CHECK(read_bytes(folder / "a") != read_bytes(folder / "d"));
}

TEST_CASE("rows that lie across the blocks of a file are put together again") {
  // 63 bytes of weights, and states of 6 and of 252 bytes: no number of them is a block.
  const RowLayout layout =
      RowLayout({table::part_of(kFields, 21, Codec::fixed(8, 5),
                                {{Codec::bf16(), table::RowState::Per::kSlot, 1},
                                 {Codec::f32(), table::RowState::Per::kWeight, 1}})});
  const auto options = options_of(layout, CellKind::kFtrl);
  const auto tables = make_tables(options);
  learn(*tables, 1, 15000);
  for (std::uint32_t i = 2; i < 15000; i += 17) tables->field(0).free_row(key_number(i));
  const TempFolder folder;
  save(*tables, folder / "a");
  REQUIRE(store::ModelFile::open(folder / "a").find("field.0.rows.0.weights")->bytes > 500000);
  const auto again = loaded(folder / "a", options);
  check_same(*tables, *again);
  save(*again, folder / "b");
  CHECK(read_bytes(folder / "a") == read_bytes(folder / "b"));
}

TEST_CASE("what prediction needs is loaded without states, and rows can be pages of the file") {
  for (const auto& [name, layout] : layouts()) {
    INFO(name);
    const auto options = options_of(layout), serving = options_of(layout.for_serving());
    const auto tables = make_tables(options);
    learn(*tables, 1, 4000);  // more rows than lie in one piece
    const TempFolder folder;
    save(*tables, folder / "a");
    for (const LoadBy by : {LoadBy::kReading, LoadBy::kMapping}) {
      const auto again = loaded(folder / "a", serving, 0, table::kMemory, by);
      for (std::uint32_t f = 0; f < kFields; ++f) {
        const table::Rows &a = tables->field(f).rows(), &b = again->field(f).rows();
        const bool mapped = by == LoadBy::kMapping && layout.parts().size() == 1;
        CHECK((b.layout().stride() == b.layout().used_bytes() &&
               reinterpret_cast<std::uintptr_t>(b.at(0)) % 4096 == 0) == mapped);
        REQUIRE(a.end() == b.end());
        for (Row row = 0; row < a.end(); ++row) {
          for (std::size_t p = 0; p < layout.parts().size(); ++p) {
            REQUIRE(weights_of(a, row, p) == weights_of(b, row, p));
          }
        }
        CHECK(a.size() > 2000);
      }
    }
  }
}

TEST_CASE("what memory has run out for is saved and loaded, whatever the memory then") {
  const auto options = options_of(table::layout_of_slots(kFields));
  const auto tables = make_tables(options, 0, 250000);
  learn(*tables, 1, 4000);
  for (Shard& shard : *tables) {
    REQUIRE(shard.overflow_slot() != nullptr);
    write_cell(cell_of(shard.overflow()), CellKind::kMixed, 77);
    if (shard.has_rows()) REQUIRE(shard.overflow_row() != table::kNoRow);
  }
  tables->field(1).free_row(key_number(4));
  tables->field(1).free_row(key_number(7));
  const TempFolder folder;
  save(*tables, folder / "a");
  for (const std::uint64_t memory : {table::kMemory, std::uint64_t{250000}, std::uint64_t{1}}) {
    INFO(memory << " bytes");
    const auto again = loaded(folder / "a", options, 0, memory);
    check_same(*tables, *again);
    CHECK(again->overflow_lookups() == tables->overflow_lookups());
    save(*again, folder / "b");
    CHECK(read_bytes(folder / "a") == read_bytes(folder / "b"));
    // Refused is refused; new features get a place where there is memory.
    Shard& shard = again->field(0);
    for (std::uint32_t i = 100001; i < 101000; ++i) learn(shard, i, 2, 0);
    CHECK((shard.find(key_number(100900)) != nullptr) == (memory == table::kMemory));
  }
}

TEST_CASE("arrays are called and shaped as leveret-model(5) says") {
  const auto tables = make_tables(options_of(table::layout_of_two_parts(kFields)));
  learn(*tables, 1, 30);
  const TempFolder folder;
  save(*tables, folder / "a");
  const store::ModelFile file = store::ModelFile::open(folder / "a");
  std::vector<std::string> said;
  for (const store::StoredSection& section : file.sections()) {
    if (section.name.starts_with("field.") && !section.name.starts_with("field.1.")) continue;
    std::string shape;
    for (const std::uint64_t n : section.shape) shape += " " + std::to_string(n);
    said.push_back(section.name + " " + std::string(store::dtype_name(section.dtype)) + shape);
  }
  // 30 features, 20 of them with rows; of 23 the largest value is not 1.
  CHECK(said == std::vector<std::string>{
                    "rest.keys u32 30", "rest.refs u32 30", "rest.cells f32 30 6",
                    "rest.largest.keys u32 22", "rest.largest.values f32 22", "field.1.keys u32 30",
                    "field.1.refs u32 30", "field.1.cells f32 30 6", "field.1.largest.keys u32 22",
                    "field.1.largest.values f32 22", "field.1.rows.0.weights i16 20 3 4",
                    "field.1.rows.0.state.0 bf16 20 3", "field.1.rows.1.weights f32 20 1 6",
                    "field.1.rows.1.state.0 f32 20 6", "field.1.rows.1.state.1 f32 20 1"});
}

}  // namespace
}  // namespace leveret::modelfile
