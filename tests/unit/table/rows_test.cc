#include "table/rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "layouts.h"
#include "table/in_threads.h"

namespace leveret::table {
namespace {

constexpr std::uint64_t kSeed = 42;

/// The row of `key` as it is when it has been made, alone.
std::vector<std::byte> first_bytes(const RowLayout& layout, std::uint32_t field, Key key) {
  MemoryBudget budget(kMemory);
  Rows rows(layout, field, kSeed, budget);
  return bytes_of(rows, rows.make(key));
}

TEST_CASE("rows are numbered as they are made, keep apart, and do not move") {
  for (const auto& [name, layout] : all_layouts(3)) {
    INFO(name);
    MemoryBudget budget(kMemory), other_budget(kMemory);
    Rows rows(layout, 1, kSeed, budget), one(layout, 1, kSeed, other_budget);
    std::vector<std::byte*> places;
    for (Row row = 0; row < 3000; ++row) {
      REQUIRE(rows.make(row * 7919 + 1) == row);
      places.push_back(rows.at(row));
      learn(rows, row, row);
    }
    CHECK(rows.size() == 3000);
    CHECK(rows.size() == 3000);
    CHECK_FALSE(rows.full());
    CHECK(budget.used() == 3000 * layout.stride());
    one.make(1);
    for (Row row = 0; row < 3000; ++row) {
      REQUIRE(rows.at(row) == places[row]);
      REQUIRE(std::as_const(rows).at(row) == places[row]);
      const std::size_t grain = layout.parts()[0].codec.is_narrow() ? 1 : 32;
      REQUIRE(reinterpret_cast<std::uintptr_t>(places[row]) % grain == 0);
      learn(one, 0, row);
      REQUIRE(content(rows, row) == content(one, 0));
    }
    std::sort(places.begin(), places.end());
    for (Row row = 1; row < 3000; ++row) {
      REQUIRE(places[row] >= places[row - 1] + layout.stride());
    }
  }
}

TEST_CASE("first weights are a function of seed, field, part, key and slot, not of arrival") {
  const RowLayout layout({part_of(3, 4, Codec::f32()), part_of(3, 4, Codec::f32())});
  MemoryBudget budget(kMemory);
  Rows forward(layout, 2, kSeed, budget), backward(layout, 2, kSeed, budget);
  for (Key key = 1; key <= 500; ++key) forward.make(key * 7919);
  for (Key key = 500; key > 0; --key) backward.make(key * 7919);
  std::set<float> distinct;
  double sum = 0, squares = 0;
  for (Row row = 0; row < 500; ++row) {
    REQUIRE(bytes_of(forward, row) == bytes_of(backward, 499 - row));
    for (const float w : content(forward, row)) {
      CHECK(std::abs(w) <= 0.5f);
      distinct.insert(w);
      sum += w;
      squares += w * w;
    }
  }
  // 12000 draws, uniform in ±0.5: mean 0 ± 0.0026, variance 1/12 ± 0.0007.
  CHECK(distinct.size() > 11980);
  CHECK(std::abs(sum / 12000) < 0.011);
  CHECK(squares / 12000 == Approx(1.0 / 12).epsilon(0.035));

  const std::vector<float> weights = weights_of(forward, 0);
  Rows seed(layout, 2, kSeed + 1, budget), field(layout, 3, kSeed, budget);
  seed.make(7919);
  field.make(7919);
  CHECK(weights_of(seed, 0) != weights);
  CHECK(weights_of(field, 0) != weights);
  CHECK(weights_of(forward, 0, 1) != weights);
  CHECK(weights_of(forward, 1) != weights);
}

TEST_CASE("the first weights of a slot do not depend on what else is in the row") {
  RowPart all = part_of(10, 4, Codec::f32());
  RowPart some = part_of(3, 4, Codec::f32(), {{Codec::f32(), RowState::Per::kWeight, 1}});
  some.opposite = {1, 4, 7};
  MemoryBudget budget(kMemory);
  Rows whole(RowLayout({all}), 2, kSeed, budget), subset(RowLayout({some}), 2, kSeed, budget);
  const auto check = [&](const std::vector<std::uint32_t>& names) {
    for (Row row = 0; row < whole.size(); ++row) {
      const std::vector<float> a = weights_of(whole, row), b = weights_of(subset, row);
      REQUIRE(b.size() == names.size() * 4);
      for (std::size_t i = 0; i < b.size(); ++i) REQUIRE(b[i] == a[names[i / 4] * 4 + i % 4]);
    }
  };
  std::vector<Rows::KeyOfRow> keys;
  for (Key key = 1; key <= 20; ++key) {
    whole.make(key);
    keys.push_back({key, subset.make(key)});
  }
  check({1, 4, 7});
  // Names go on from the last one.
  subset.widen(subset.layout().with_slots(5), keys);
  check({1, 4, 7, 8, 9});
  keys.push_back({21, subset.make(21)});
  whole.make(21);
  check({1, 4, 7, 8, 9});
}

TEST_CASE("whatever the codec, first weights are those of floats, rounded") {
  const Codec codec = GENERATE(Codec::fixed(16, 12), Codec::fixed(16, 14), Codec::fixed(8, 5),
                               Codec::fixed(8, 7), Codec::bf16());
  const float unit = codec.kind == Codec::Kind::kFixed ? codec.unit() : 0x1p-8f;
  MemoryBudget budget(kMemory);
  Rows floats(RowLayout({part_of(5, 7, Codec::f32())}), 2, kSeed, budget);
  Rows rounded(RowLayout({part_of(5, 7, codec)}), 2, kSeed, budget);
  for (Key key = 1; key <= 50; ++key) {
    const std::vector<float> a = weights_of(floats, floats.make(key));
    const std::vector<float> b = weights_of(rounded, rounded.make(key));
    for (std::size_t i = 0; i < a.size(); ++i) {
      // 8 bits with a shift of 7 end below 0.5.
      if (std::abs(a[i]) < 0.49f) REQUIRE(std::abs(b[i] - a[i]) <= unit / 2);
    }
  }
}

TEST_CASE("weights that do not learn are 0, and the others as they are without them") {
  const std::uint32_t k = GENERATE(8, 63, 64, 65, 100, 128, 150);
  const std::uint32_t used = GENERATE(1, 2, 5, 63, 64, 65, 99, 127, 128, 150);
  const Codec codec = GENERATE(Codec::f32(), Codec::fixed(16, 12), Codec::fixed(8, 5));
  if (used > k) return;
  RowPart padded = part_of(3, k, codec), whole = part_of(3, k, codec);
  padded.used_k = used;
  MemoryBudget budget(kMemory);
  Rows some(RowLayout({padded}), 2, kSeed, budget), all(RowLayout({whole}), 2, kSeed, budget);
  for (Key key = 1; key <= 3; ++key) {
    const std::vector<float> a = weights_of(some, some.make(key)),
                             b = weights_of(all, all.make(key));
    for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == (i % k < used ? b[i] : 0.0f));
    CHECK(std::count(b.begin(), b.end(), 0.0f) <= static_cast<std::ptrdiff_t>(b.size() / 10));
  }
}

TEST_CASE("states have their first values, and what lies between arrays is 0") {
  for (const auto& [name, layout] : all_layouts(3)) {
    INFO(name);
    MemoryBudget budget(kMemory);
    Rows rows(layout, 2, kSeed, budget);
    const Row row = rows.make(5);
    for (std::size_t p = 0; p < layout.parts().size(); ++p) {
      for (std::size_t s = 0; s < layout.parts()[p].states.size(); ++s) {
        const RowLayout::Column& column = layout.state(p, s);
        const float first = layout.parts()[p].states[s].first;
        CHECK(numbers(rows.at(row), column) == std::vector<float>(column.count, first));
      }
    }
    std::vector<std::byte> rest = bytes_of(rows, row);
    for_each_column(layout, layout, [&](const RowLayout::Column& column, const auto&) {
      std::fill_n(rest.begin() + static_cast<std::ptrdiff_t>(column.begin), column.bytes(),
                  std::byte{});
    });
    CHECK(rest == std::vector<std::byte>(layout.stride()));
  }
}

TEST_CASE("new slots are what they would have been from the start; old ones stay") {
  for (std::size_t kind = 0; kind < all_layouts(1).size(); ++kind) {
    INFO(all_layouts(1)[kind].name);
    MemoryBudget budget(kMemory), other_budget(kMemory);
    Rows grown(all_layouts(1)[kind].layout, 5, kSeed, budget);
    Rows whole(all_layouts(6)[kind].layout, 5, kSeed, other_budget);
    std::vector<Rows::KeyOfRow> keys;
    for (std::uint32_t slots = 1; slots <= 6; slots += slots == 2 ? 2 : 1) {
      grown.widen(grown.layout().with_slots(slots), keys);
      for (Key key = slots * 1000; key < slots * 1000 + 700; ++key) {
        const Row row = grown.make(key);
        REQUIRE(whole.make(key) == row);
        // What has been learned so far, in the slots there are; of some nothing.
        if (key % 3 != 0) {
          learn(grown, row, key);
          learn(whole.at(row), whole.layout(), grown.layout(), key);
        }
        keys.push_back({key, row});
      }
    }
    grown.widen(grown.layout().with_slots(3), keys);  // never fewer
    REQUIRE(grown.layout().parts()[0].slots == 6);
    REQUIRE(grown.size() == keys.size());
    for (const auto& [key, row] : keys) REQUIRE(bytes_of(grown, row) == bytes_of(whole, row));
    CHECK(budget.used() == other_budget.used());
  }
}

TEST_CASE("rows that are removed leave no gap, and their memory to others") {
  for (const auto& [name, layout] : all_layouts(3)) {
    INFO(name);
    const std::uint32_t count = GENERATE(10, 700);
    MemoryBudget budget(kMemory);
    Rows rows(layout, 2, kSeed, budget);
    for (Key key = 1; key <= count; ++key) learn(rows, rows.make(key), key);
    std::vector<std::vector<std::byte>> before;
    for (Row row = 0; row < count; ++row) before.push_back(bytes_of(rows, row));
    std::vector<Row> removed;
    for (Row row = 0; row < count; ++row) {
      if (row % 3 == 0 || row + 2 == count) removed.push_back(row);
    }
    std::ranges::reverse(removed);
    const std::vector<Row> moved = rows.remove(removed);
    REQUIRE(rows.size() == count - removed.size());
    REQUIRE(moved.size() == removed.size());
    CHECK(budget.used() == rows.size() * layout.stride());
    std::set<Row> places;
    for (Row row = 0; row < count; ++row) {
      const bool gone = std::ranges::find(removed, row) != removed.end();
      const Row now = row < rows.size() ? row : moved[row - rows.size()];
      if (row >= rows.size()) REQUIRE((now == kNoRow) == gone);
      if (gone) continue;
      REQUIRE(places.insert(now).second);
      REQUIRE(now < rows.size());
      REQUIRE(bytes_of(rows, now) == before[row]);
    }
    // The next ones are as new.
    for (Key key = 5000; key < 5000 + removed.size(); ++key) {
      REQUIRE(bytes_of(rows, rows.make(key)) == first_bytes(layout, 2, key));
    }
    CHECK(rows.size() == count);
  }
}

TEST_CASE("memory of rows that come and go stays what the most of them take") {
  const RowLayout layout = layout_of_slots(3);
  MemoryBudget budget(kMemory);
  Rows rows(layout, 2, kSeed, budget);
  Rows others(layout, 3, kSeed, budget);
  std::byte* last = nullptr;
  for (int round = 0; round < 30; ++round) {
    Rows& grows = round % 2 == 0 ? rows : others;
    for (Key key = 1; key <= 3000; ++key) grows.make(key);
    std::byte* const piece = budget.pool().take(64);
    if (round > 1) CHECK(piece <= last);
    last = std::max(last, piece);
    budget.pool().give_back(piece, 64);
    std::vector<Row> all(3000);
    std::iota(all.begin(), all.end(), Row{0});
    grows.remove(all);
    REQUIRE(budget.used() == 0);
  }
}

TEST_CASE("rows take what the budget has, and a row beyond it where that is asked for") {
  const RowLayout layout = layout_of_slots(3);
  MemoryBudget budget(layout.stride() * 1000 + 5000);
  REQUIRE(budget.take(4990));  // others' memory
  Rows rows(layout, 2, kSeed, budget);
  for (Row row = 0; row < 1000; ++row) {
    REQUIRE(rows.make(row + 1) == row);
    REQUIRE_FALSE(rows.full());
  }
  CHECK(rows.make(2000) == kNoRow);
  CHECK(rows.full());
  CHECK(rows.size() == 1000);
  CHECK(rows.has_room(1000000));  // growing would not help
  CHECK(rows.make(kNoKey, true) == 1000);
  CHECK(bytes_of(rows, 1000) == first_bytes(layout, 2, kNoKey));
  CHECK(rows.make(2000) == kNoRow);
  CHECK(budget.used() == 4990 + 1001 * layout.stride());
  // What is removed makes room: for as many, but for the one beyond the budget.
  rows.remove({17, 3});
  CHECK(rows.make(2001) == 999);
  CHECK(rows.make(2002) == kNoRow);
}

TEST_CASE("reserve makes room, which is not memory yet") {
  const RowLayout layout = layout_of_slots(3);
  MemoryBudget budget(layout.stride() * 1000 + 1);
  Rows rows(layout, 2, kSeed, budget);
  CHECK(rows.has_room(0));
  CHECK_FALSE(rows.has_room(1));
  CHECK(rows.reserve(5000));
  CHECK(rows.has_room(5000));
  CHECK(budget.used() == 0);
  rows.make(1);
  CHECK(rows.has_room(4999));
  CHECK_FALSE(rows.full());
  rows.set_concurrent(true);
  for (Key key = 2; key <= 1000; ++key) REQUIRE(rows.make(key) == key - 1);
  CHECK(rows.make(1001) == kNoRow);
  CHECK(rows.full());
}

TEST_CASE("threads make no rows where there is no room") {
  const RowLayout layout = layout_of_slots(3);
  MemoryBudget budget(kMemory);
  Rows rows(layout, 2, kSeed, budget);
  rows.set_concurrent(true);
  CHECK(rows.make(1) == kNoRow);
  CHECK_FALSE(rows.full());
  CHECK(rows.size() == 0);
  CHECK(budget.used() == 0);
  rows.reserve(1);
  CHECK(rows.make(1) == 0);
}

TEST_CASE("rows that a file has are there whatever the budget says") {
  const RowLayout layout = layout_of_slots(3);
  MemoryBudget budget(5000);
  Rows rows(layout, 2, kSeed, budget);
  rows.load_zeros(20000);
  CHECK(rows.size() == 20000);
  CHECK(budget.used() == 20000 * layout.stride());
  CHECK(bytes_of(rows, 19999) == std::vector<std::byte>(layout.stride()));
  learn(rows, 19999, 5);
  CHECK(rows.make(1) == kNoRow);
  CHECK(rows.make(kNoKey, true) == 20000);
}

TEST_CASE("threads make rows side by side once there is room") {
  const RowLayout layout = layout_of_two_parts(3);
  constexpr std::uint32_t kKeys = 2000;
  MemoryBudget budget(kMemory);
  Rows rows(layout, 2, kSeed, budget);
  for (Key key = 1; key <= 3; ++key) rows.make(100000 + key);
  rows.reserve(kKeys);
  rows.set_concurrent(true);
  std::vector<Row> of_key(kKeys);
  in_threads(4, [&](std::uint32_t t) {
    for (std::uint32_t i = t; i < kKeys; i += 4) of_key[i] = rows.make(i + 1);
  });
  rows.set_concurrent(false);
  CHECK(rows.size() == 3 + kKeys);
  std::set<Row> distinct(of_key.begin(), of_key.end());
  CHECK(distinct.size() == kKeys);
  CHECK(*distinct.begin() == 3);
  MemoryBudget other_budget(kMemory);
  Rows alone(layout, 2, kSeed, other_budget);
  for (std::uint32_t i = 0; i < kKeys; ++i) {
    REQUIRE(of_key[i] < rows.size());
    REQUIRE(bytes_of(rows, of_key[i]) == bytes_of(alone, alone.make(i + 1)));
  }
  const std::uint64_t end = rows.size();
  CHECK(rows.make(1) == end);
}

TEST_CASE("threads run out of memory for rows side by side") {
  const RowLayout layout = layout_of_slots(3);
  MemoryBudget budget(layout.stride() * 100 + 10);
  Rows rows(layout, 2, kSeed, budget);
  rows.reserve(50);
  rows.set_concurrent(true);
  std::vector<std::vector<Row>> made(4);
  in_threads(4, [&](std::uint32_t t) {
    for (Key key = 1; key < 500; ++key) {
      const Row row = rows.make(key * 4 + t);
      if (row != kNoRow) made[t].push_back(row);
    }
  });
  std::set<Row> distinct;
  std::size_t count = 0;
  for (const auto& own : made) {
    distinct.insert(own.begin(), own.end());
    count += own.size();
  }
  CHECK(distinct.size() == count);
  CHECK(count == rows.size());
  CHECK(count >= 50);
  CHECK(count <= 100);
  CHECK(budget.used() == count * layout.stride());
}

}  // namespace
}  // namespace leveret::table
