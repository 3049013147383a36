#include "modelfile/tables_io.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <set>
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

/// Keys number `from`, `from` + `step`, … before `end`.
void forget(Shard& shard, std::uint32_t from, std::uint32_t end, std::uint32_t step) {
  std::set<table::Key> keys;
  for (std::uint32_t i = from; i < end; i += step) keys.insert(key_number(i));
  shard.forget([&](const Slot& slot) { return keys.contains(slot.key); });
}

TEST_CASE("rows of every kind are made, written, forgotten by key, saved and loaded") {
  for (const auto& [name, layout] : layouts()) {
    INFO(name);
    const auto options = options_of(layout);
    const auto tables = make_tables(options);
    learn(*tables, 1, 400);
    for (std::uint32_t f = 0; f < kFields; ++f) {
      Shard& shard = tables->field(f);
      if (f > 0) forget(shard, 2, 400, 7);  // of one field none
    }
    learn(*tables, 1000, 30, 5);
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
    forget(each->field(1), 1, 1000, 5);
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

TEST_CASE("neither order of arrival nor growth shows in a file") {
  const auto options = options_of(table::layout_of_slots(kFields));
  std::vector<std::uint32_t> order(3000);
  std::iota(order.begin(), order.end(), 1);
  std::mt19937 random(1);
  const TempFolder folder;
  for (const char* const name : {"a", "b", "c", "d"}) {
    const auto tables = make_tables(options);
    if (*name == 'b') {
      for (Shard& shard : *tables) shard.reserve(20000, 20000);
    }
    if (*name == 'c') {  // rows that are given back, and used again by others
      for (const std::uint32_t i : order) {
        if (i % 3 == 0) continue;
        Shard& shard = tables->field(1);
        while (shard.count_and_find(*shard.find_or_insert(key_number(i))) == table::kNoRow) {
        }
      }
      tables->field(1).forget([](const Slot&) { return true; });
    }
    for (const std::uint32_t i : order) learn(*tables, i, 1);
    save(*tables, folder / name);
    std::shuffle(order.begin(), order.end(), random);
  }
  for (const char* const other : {"b", "c", "d"}) {
    INFO(other);
    CHECK(read_bytes(folder / "a") == read_bytes(folder / other));
  }
  // All else does.
  const auto other = make_tables(options);
  learn(*other, 1, 2999);
  learn(*other, 3000, 1, 1);
  save(*other, folder / "e");
  CHECK(read_bytes(folder / "a") != read_bytes(folder / "e"));
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
  forget(tables->field(0), 2, 15000, 17);
  const TempFolder folder;
  save(*tables, folder / "a");
  REQUIRE(store::ModelFile::open(folder / "a").find("field.0.rows.0.weights")->bytes > 500000);
  const auto again = loaded(folder / "a", options);
  check_same(*tables, *again);
  save(*again, folder / "b");
  CHECK(read_bytes(folder / "a") == read_bytes(folder / "b"));
}

TEST_CASE("what prediction needs is loaded without states, and rows can be pages of the file") {
  std::uint32_t rows_mapped = 0;
  for (const auto& [name, layout] : layouts()) {
    INFO(name);
    const auto options = options_of(layout), serving = options_of(layout.for_serving());
    const auto tables = make_tables(options);
    learn(*tables, 1, 6000);  // more rows than lie in one piece
    const TempFolder folder;
    save(*tables, folder / "a");
    for (const LoadBy by : {LoadBy::kReading, LoadBy::kMapping}) {
      const auto again = loaded(folder / "a", serving, 0, table::kMemory, by, model::Use::kPredict);
      for (std::uint32_t f = 0; f < kFields; ++f) {
        const table::Rows &a = tables->field(f).rows(), &b = again->field(f).rows();
        const bool mapped = by == LoadBy::kMapping && layout.parts().size() == 1 &&
                            a.size() * serving.rows.weight_bytes() >= store::kLargeFrom;
        rows_mapped += mapped;
        CHECK((b.layout().stride() == b.layout().used_bytes() &&
               reinterpret_cast<std::uintptr_t>(b.at(0)) % 4096 == 0) == mapped);
        REQUIRE(a.size() == b.size());
        tables->field(f).for_each([&](const Slot& slot) {
          if (!slot.ref.has_row()) return;
          const Row row = again->field(f).find(slot.key)->ref.row();
          for (std::size_t p = 0; p < layout.parts().size(); ++p) {
            REQUIRE(weights_of(a, slot.ref.row(), p) == weights_of(b, row, p));
          }
        });
        CHECK(a.size() > 2000);
      }
    }
  }
  CHECK(rows_mapped > 3 * kFields);
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
  forget(tables->field(1), 4, 8, 3);
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

TEST_CASE("the overflow row lies behind rows that are mapped") {
  const auto options = options_of(table::layout_of_slots(kFields));
  const auto serving = options_of(options.rows.for_serving());
  const auto tables = make_tables(options, 0, 3000000);
  learn(*tables, 1, 40000);
  const Shard& saved = tables->field(0);
  REQUIRE(saved.overflow_row() != table::kNoRow);
  const TempFolder folder;
  save(*tables, folder / "a");
  const store::ModelFile file = store::ModelFile::open(folder / "a");
  REQUIRE(file.find("field.0.rows.0.weights")->bytes >= store::kLargeFrom);
  for (const LoadBy by : {LoadBy::kReading, LoadBy::kMapping}) {
    const auto again = loaded(folder / "a", serving, 0, table::kMemory, by, model::Use::kPredict);
    const Shard& shard = again->field(0);
    CHECK((shard.rows().layout().stride() == shard.rows().layout().used_bytes()) ==
          (by == LoadBy::kMapping));
    CHECK(shard.overflow_row() + 1 == shard.rows().size());
    CHECK(weights_of(shard.rows(), shard.overflow_row()) ==
          weights_of(saved.rows(), saved.overflow_row()));
    saved.for_each([&](const Slot& slot) {
      const Row a = saved.row_of(slot), b = shard.row_of(*shard.find(slot.key));
      REQUIRE((a == table::kNoRow) == (b == table::kNoRow));
      if (a == table::kNoRow) return;
      REQUIRE(weights_of(saved.rows(), a) == weights_of(shard.rows(), b));
    });
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
    std::string declared(store::role_name(section.declared.role));
    if (section.declared.keys > 0) {
      declared += " of " + file.sections()[section.declared.keys - 1].name;
    }
    if (section.declared.last_keys) declared += ", the last";
    if (section.declared.coding == store::Coding::kFixed) {
      declared += " *" + std::to_string(section.declared.scale);
    }
    said.push_back(section.name + " " + std::string(store::dtype_name(section.dtype)) + shape +
                   ": " + declared);
  }
  // 30 features, 20 of them with rows; of 22 the largest value is not 1.
  const auto shard = [](const std::string& p, bool rows) {
    const std::string of = " of " + p + "keys", of_largest = " of " + p + "largest.keys";
    std::vector<std::string> all{p + "keys u32 30: index" + of};
    if (rows) all.push_back(p + "occurrences u32 10: state" + of + ", the last");
    for (const char* const cell :
         {"weight f32 30: parameter", "sum f32 30: state", "weight2 f32 30: parameter",
          "fast f32 30: parameter", "clicks f32 30: statistic", "count f32 30: statistic"}) {
      all.push_back(p + cell + of);
    }
    all.push_back(p + "largest.keys u32 22: index" + of_largest);
    all.push_back(p + "largest.values f32 22: statistic" + of_largest);
    if (!rows) return all;
    all.push_back(p + "rows.0.weights i16 20 3 4: parameter" + of + " *0.000244");
    all.push_back(p + "rows.0.state.0 bf16 20 3: state" + of);
    all.push_back(p + "rows.1.weights f32 20 1 6: parameter" + of);
    all.push_back(p + "rows.1.state.0 f32 20 6: state" + of);
    all.push_back(p + "rows.1.state.1 f32 20 1: state" + of);
    return all;
  };
  std::vector<std::string> expected = shard("rest.", false), more = shard("field.1.", true);
  expected.insert(expected.end(), more.begin(), more.end());
  CHECK(said == expected);
}

}  // namespace
}  // namespace leveret::modelfile
