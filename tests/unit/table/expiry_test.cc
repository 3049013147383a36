#include "table/expiry.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <vector>

#include "layouts.h"
#include "table/meet.h"

namespace leveret::table {
namespace {

constexpr std::uint32_t kFields = 2;

std::unique_ptr<Tables> make_tables(CellKind cells = CellKind::kMixed) {
  ShardOptions options;
  options.cells = cells;
  options.rows = layout_of_slots(kFields);
  options.admission.admit = 2;
  auto tables = std::make_unique<Tables>(options, 0, kMemory);
  tables->fit(kFields);
  tables->note_use(true);
  return tables;
}

/// An example with this feature of a field, `times` times.
void use(Tables& tables, std::uint32_t field, Key key, std::uint32_t times = 1) {
  Shard& shard = tables.field(field);
  for (std::uint32_t i = 0; i < times; ++i) meet(shard, key);
  Slot& slot = *shard.find_or_insert(key);
  touch(slot.ref, tables.clock());
  if (shard.cells() == CellKind::kMixed) {
    mixed(*cell_of(&slot)).count += static_cast<float>(times);
  } else if (shard.cells() != CellKind::kNone) {
    cell_of(&slot)->sum += 1e-6f * static_cast<float>(times);
  }
}

bool knows(const Tables& tables, std::uint32_t field, Key key) {
  return tables.field(field).find(key) != nullptr;
}

TEST_CASE("a feature expires with the fourth tick after its last use, whatever the clock shows") {
  const auto tables = make_tables();
  const unsigned start = GENERATE(0u, 1u, 2u, 3u);
  tables->set_clock(start);
  use(*tables, 0, 1);
  use(*tables, 1, 2, 5);
  use(*tables, 1, 3);
  for (unsigned ticks = 1; ticks < RowRef::kAges; ++ticks) {
    use(*tables, 1, 3);
    CHECK(expire(*tables) == 0);
    CHECK(tables->field(0).find(1)->ref.age(tables->clock()) == ticks);
  }
  CHECK(expire(*tables) == 2);
  CHECK_FALSE(knows(*tables, 0, 1));
  CHECK_FALSE(knows(*tables, 1, 2));
  CHECK(knows(*tables, 1, 3));
  CHECK(tables->field(1).rows().size() == 1);
  CHECK(expire(*tables) == 0);  // it was used before the third tick
  CHECK(expire(*tables) == 1);
  for (const Shard& shard : *tables) CHECK(shard.index().size() == 0);
}

TEST_CASE("those that are evicted are used least") {
  const CellKind cells = GENERATE(CellKind::kMixed, CellKind::kFtrl, CellKind::kNone);
  const auto tables = make_tables(cells);
  // Powers of two apart; without a cell nothing tells how often a feature with a row was seen.
  for (Key key = 1; key <= 1000; ++key) use(*tables, key % 2, key, 1u << (key % 7));
  std::uint64_t bytes = 0;
  for (const Shard& shard : *tables) {
    bytes += shard.index().size() * slot_bytes(shard.cells());
    bytes += shard.rows().size() * shard.rows().layout().stride();
  }
  const std::uint64_t forgotten = evict(*tables, bytes / 3, 1);
  std::uint64_t after = 0;
  for (const Shard& shard : *tables) {
    after += shard.index().size() * slot_bytes(shard.cells());
    after += shard.rows().size() * shard.rows().layout().stride();
  }
  CHECK(static_cast<double>(bytes - after) > .28 * static_cast<double>(bytes));
  CHECK(static_cast<double>(bytes - after) < .38 * static_cast<double>(bytes));
  std::uint64_t left = 0;
  std::set<std::uint32_t> gone, there;
  for (Key key = 1; key <= 1000; ++key) {
    const bool knows_it = knows(*tables, key % 2, key);
    left += knows_it;
    (knows_it ? there : gone).insert(key % 7);
  }
  CHECK(left == 1000 - forgotten);
  REQUIRE_FALSE(gone.empty());
  if (cells == CellKind::kNone) return;
  CHECK(*gone.rbegin() <= *there.begin());  // of one rank some stay
}

TEST_CASE("the oldest are evicted before all others, however often they were used") {
  const auto tables = make_tables();
  for (Key key = 1; key <= 100; ++key) use(*tables, 0, key, 1000);
  for (unsigned ticks = 0; ticks < 7; ++ticks) {
    tick(*tables);  // they stay as old as they can be
    const unsigned age = tables->field(0).find(1)->ref.age(tables->clock());
    CHECK(age == std::min(ticks + 1, RowRef::kAges - 1));
    for (Key key = 200; key < 300; ++key) use(*tables, 0, key);
  }
  const std::uint64_t row =
      tables->field(0).rows().layout().stride() + slot_bytes(CellKind::kMixed);
  const std::uint64_t forgotten = evict(*tables, 50 * row, 1);
  CHECK(forgotten > 25);
  CHECK(forgotten < 75);
  for (Key key = 200; key < 300; ++key) CHECK(knows(*tables, 0, key));
}

TEST_CASE("of those that are used alike the ones of long ago are evicted first") {
  const auto tables = make_tables();
  for (Key key = 1; key <= 300; ++key) {
    use(*tables, 0, key, 8);
    if (key % 100 == 0 && key < 300) tick(*tables);
  }
  const std::uint64_t each =
      tables->field(0).rows().layout().stride() + slot_bytes(CellKind::kMixed);
  for (std::uint64_t hundred = 0; hundred < 2; ++hundred) {
    CHECK(evict(*tables, 100 * each, hundred) == 100);
    for (Key key = 1; key <= 300; ++key) {
      INFO("key " << key);
      CHECK(knows(*tables, 0, key) == (key > 100 * (hundred + 1)));
    }
  }
}

TEST_CASE("all of it can be evicted, and then there is nothing to evict") {
  const auto tables = make_tables();
  for (Key key = 1; key <= 100; ++key) use(*tables, key % 2, key, 3);
  CHECK(evict(*tables, kMemory, 1) == 100);
  CHECK(evict(*tables, kMemory, 2) == 0);
  CHECK(tables->field(0).rows().size() == 0);
}

TEST_CASE("of features that are alike others are evicted each time") {
  const auto tables = make_tables();
  for (Key key = 1; key <= 4000; ++key) use(*tables, 0, key);
  std::uint64_t left = 4000;
  for (std::uint64_t seed = 1; seed < 8; ++seed) {
    const std::uint64_t gone = evict(*tables, left * slot_bytes(CellKind::kMixed) / 4, seed);
    CHECK(gone > left / 5);
    CHECK(gone < left / 3);
    left -= gone;
  }
}

}  // namespace
}  // namespace leveret::table
