#include "model/field_table.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <vector>

#include "int16_near.h"
#include "random_model.h"

namespace leveret::model {
namespace {

using kernels::Codec;

constexpr std::uint64_t kMemory = std::uint64_t{64} << 20;

FieldTableOptions with_admit(std::uint32_t admit, std::uint32_t bits = 0) {
  FieldTableOptions options;
  options.admit = admit;
  options.bits = bits;
  options.seed = 42;
  options.init_width = 0.5f;
  return options;
}

constexpr RowShape kShape{3, 4, true, 0.25f};

/// The same shape in either codec.
RowShape shape_in(Codec codec) {
  RowShape shape = kShape;
  shape.codec = codec;
  return shape;
}

TEST_CASE("a growing table admits at the N-th sight, and keeps rows apart") {
  const std::uint32_t admit = GENERATE(1, 2, 3);
  const RowShape shape = shape_in(GENERATE(Codec::f32(), kInt16));
  MemoryBudget budget(kMemory);
  FieldTable table(1, with_admit(admit), shape, budget);
  std::unordered_map<std::uint32_t, std::uint32_t> sights;
  std::unordered_map<std::uint32_t, Row> rows;
  std::mt19937 random(admit);
  for (int i = 0; i < 40000; ++i) {
    const std::uint32_t key = random() % 3 == 0 ? random() % 50 : random() % 8000 * 0x10001u;
    const Row before = table.find(key);
    CHECK(before == (rows.contains(key) ? rows[key] : kNoRow));
    const Row row = table.touch(key);
    if (++sights[key] < admit) {
      CHECK(row == kNoRow);
      continue;
    }
    if (rows.contains(key)) {
      CHECK(row == rows[key]);
      REQUIRE(table.weight(row, 5) == static_cast<float>(key % 1000) * 0x1p-8f);
    } else {
      CHECK(row == rows.size());
      rows[key] = row;
      table.set_weight(row, 5, static_cast<float>(key % 1000) * 0x1p-8f);
      // What 8 bits hold.
      table.set_state(row, 2, static_cast<float>(row % 256));
    }
    REQUIRE(table.state(row, 2) == static_cast<float>(row % 256));
  }
  CHECK(table.keys() == sights.size());
  CHECK(table.rows() == rows.size());
  CHECK(table.shared() == 0);
  std::size_t visited = 0;
  table.for_each_row([&](std::uint32_t key, Row row) {
    ++visited;
    CHECK(rows.at(key) == row);
  });
  CHECK(visited == rows.size());
}

TEST_CASE("a hashed table admits slots, not keys") {
  MemoryBudget budget(kMemory);
  FieldTable table(0, with_admit(2, 4), kShape, budget);
  CHECK(table.touch(3) == kNoRow);
  const Row row = table.touch(3 + 16);  // the slot's second sight
  CHECK(row == 0);
  CHECK(table.find(3 + 32) == row);
  CHECK(table.find(4) == kNoRow);
  for (std::uint32_t key = 0; key < 1000; ++key) table.touch(key);
  CHECK(table.rows() == 16);
  CHECK(table.capacity() == 16);
}

TEST_CASE("first weights are a function of seed, field and key, not of arrival") {
  MemoryBudget budget(kMemory);
  FieldTable forward(2, with_admit(1), kShape, budget), backward(2, with_admit(3), kShape, budget);
  for (std::uint32_t key = 0; key < 500; ++key) forward.touch(key * 7919);
  for (std::uint32_t key = 500; key-- > 0;) {
    for (int i = 0; i < 3; ++i) backward.touch(key * 7919);
  }
  std::set<float> distinct;
  double sum = 0, squares = 0;
  for (std::uint32_t key = 0; key < 500; ++key) {
    const std::vector<float> row = weights_of(forward, forward.find(key * 7919));
    REQUIRE(row == weights_of(backward, backward.find(key * 7919)));
    for (const float w : row) {
      CHECK(std::abs(w) <= 0.5f);
      distinct.insert(w);
      sum += w;
      squares += w * w;
    }
    for (std::size_t i = 0; i < kShape.state(); ++i) {
      CHECK(forward.state(forward.find(key * 7919), i) == 0.25f);
    }
  }
  // 6000 draws, uniform in ±0.5: mean 0 ± 0.0037, variance 1/12 ± 0.001.
  CHECK(distinct.size() > 5990);
  CHECK(std::abs(sum / 6000) < 0.015);
  CHECK(squares / 6000 == Approx(1.0 / 12).epsilon(0.05));

  FieldTableOptions other_seed = with_admit(1);
  other_seed.seed = 43;
  FieldTable seeded(2, other_seed, kShape, budget), field(3, with_admit(1), kShape, budget);
  const std::vector<float> row = weights_of(forward, forward.find(7919));
  CHECK(weights_of(seeded, seeded.touch(7919)) != row);
  CHECK(weights_of(field, field.touch(7919)) != row);
}

TEST_CASE("new slots are what they would have been from the start; old ones stay") {
  const bool slice = GENERATE(true, false);
  const std::uint32_t k = GENERATE(1, 3, 4);
  const std::uint32_t bits = GENERATE(0, 10);
  const Codec codec = GENERATE(Codec::f32(), kInt16);
  MemoryBudget budget(kMemory);
  FieldTable grown(5, with_admit(1, bits), {1, k, slice, 0.5f, codec}, budget);
  FieldTable whole(5, with_admit(1, bits), {6, k, slice, 0.5f, codec}, budget);
  std::vector<std::uint32_t> keys;
  const auto touch = [&](std::uint32_t key) {
    keys.push_back(key);
    const Row row = grown.touch(key);
    whole.touch(key);
    // What has been learned so far: the key in the slots there are.
    for (std::size_t i = 0; i < grown.shape().weights(); i += 2) {
      grown.set_weight(row, i, static_cast<float>(key));
      whole.set_weight(whole.find(key), i, static_cast<float>(key));
    }
    for (std::size_t i = 0; i < grown.shape().state(); i += 2) {
      grown.set_state(row, i, 7);
      whole.set_state(whole.find(key), i, 7);
    }
  };
  for (std::uint32_t slots = 1; slots <= 6; slots += slots == 2 ? 2 : 1) {
    grown.set_slots(slots);
    for (std::uint32_t i = 0; i < 40; ++i) touch(slots * 100 + i);
  }
  grown.set_slots(3);  // never fewer
  REQUIRE(grown.shape().slots == 6);
  REQUIRE(grown.rows() == keys.size());
  for (const std::uint32_t key : keys) {
    const Row a = grown.find(key), b = whole.find(key);
    REQUIRE(weights_of(grown, a) == weights_of(whole, b));
    REQUIRE(states_of(grown, a) == states_of(whole, b));
  }
}

TEST_CASE(
    "a row of 16 bits has the first weights of one of floats, rounded, and half their bytes") {
  MemoryBudget budget(kMemory);
  FieldTable floats(2, with_admit(1), shape_in(Codec::f32()), budget);
  FieldTable rounded(2, with_admit(1), shape_in(kInt16), budget);
  CHECK(rounded.shape().weight_bytes() * 2 == floats.shape().weight_bytes());
  for (std::uint32_t key = 0; key < 50; ++key) {
    const std::vector<float> a = weights_of(floats, floats.touch(key)),
                             b = weights_of(rounded, rounded.touch(key));
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(b[i] == Approx(a[i]).margin(0x1p-13));
    }
    CHECK(rounded.state(rounded.find(key), 2) == 0.25f);
  }
}

TEST_CASE("accumulators behind an odd number of 16-bit weights are aligned") {
  const bool slice = GENERATE(true, false);
  MemoryBudget budget(kMemory);
  FieldTable table(0, with_admit(1), {3, 5, slice, 0.5f, kInt16}, budget);
  for (std::uint32_t key = 0; key < 3; ++key) {
    const Row row = table.touch(key);
    CHECK(table.shape().state_at(table.at(row)) - table.at(row) == (slice ? 30 : 32));
    CHECK(table.state(row, 2) == 0.5f);
  }
}

TEST_CASE("with admit 0 a field with much memory asks for more sights") {
  for (const std::uint32_t slots : {4u, 39u}) {
    MemoryBudget budget(kMemory);
    const RowShape shape{slots, 4, true, 1};
    FieldTable table(0, with_admit(0), shape, budget);
    const auto sights_of = [&](std::uint32_t key) {
      std::uint32_t sights = 1;
      while (table.touch(key) == kNoRow) ++sights;
      return sights;
    };
    // The first row that begins beyond 832 KiB, twice and four times that.
    const auto rows_in = [&](std::uint64_t bytes) {
      return (bytes + shape.stride() - 1) / shape.stride();
    };
    std::uint32_t key = 1;
    for (const auto& [until, sights] :
         std::vector<std::pair<std::uint64_t, std::uint32_t>>{{rows_in(832 << 10), 2},
                                                              {rows_in(1664 << 10), 6},
                                                              {rows_in(3328 << 10), 10},
                                                              {rows_in(3328 << 10) + 10, 14}}) {
      while (table.rows() < until) REQUIRE(sights_of(key++ * 2654435761u) == sights);
    }
  }
}

/// A table that has run out of memory, and a key that found none.
struct FullTable {
  explicit FullTable(std::uint32_t admit)
      : sights(admit == 0 ? 2 : admit), table(0, with_admit(admit), {16, 4, true, 1}, budget) {
    for (; table.shared() == 0; ++next) {
      REQUIRE(next < 100000);
      for (std::uint32_t i = 0; i < sights; ++i) table.touch(next);
    }
  }
  std::uint32_t sights;  ///< that a key needs; with `admit` 0 and few rows: 2
  MemoryBudget budget{50000};
  FieldTable table;
  std::uint32_t next = 1;
};

TEST_CASE("without memory new keys share one row, old ones keep theirs, and it is counted") {
  const std::uint32_t admit = GENERATE(0, 1, 2, 3);
  FullTable full(admit);
  FieldTable& table = full.table;
  const Row shared = table.shared_row();
  REQUIRE(shared != kNoRow);
  CHECK(full.budget.used() <= full.budget.limit() + 16 * 5 * sizeof(float));
  const std::uint64_t rows = table.rows();
  std::uint64_t count = table.shared();
  for (std::uint32_t key = full.next; key < full.next + 10; ++key) {
    for (std::uint32_t i = 1; i < full.sights; ++i) CHECK(table.touch(key) == kNoRow);
    CHECK(table.find(key) == (admit != 1 ? kNoRow : shared));
    for (int again = 0; again < 3; ++again) {
      CHECK(table.touch(key) == shared);
      CHECK(table.shared() == ++count);
      // Prediction takes the row that learning took.
      CHECK(table.find(key) == shared);
    }
  }
  CHECK(table.rows() == rows);
  for (std::uint32_t key = 1; key + 1 < full.next; ++key) {
    REQUIRE(table.find(key) == key - 1);
    REQUIRE(table.touch(key) == key - 1);
  }
  // A key that was never seen is unknown, as it is to learning at its first sight.
  if (admit != 1) CHECK(table.find(0xabcdef) == kNoRow);
}

Arena arena_of(const void* data, std::uint64_t bytes) {
  Arena arena(kMemory);
  REQUIRE(arena.resize(bytes));
  if (bytes > 0) std::memcpy(arena.data(), data, bytes);
  return arena;
}

struct Stored {
  std::vector<std::uint64_t> index;
  std::vector<std::byte> rows;
  StoredRows as;
  Row shared_row = kNoRow;

  explicit Stored(const FieldTable& table) : index(table.capacity()) {
    as.stride = table.shape().stride();
    std::memcpy(index.data(), table.index().data(), index.size() * 8);
    const std::byte* first = table.row_arena().data();
    rows.assign(first, first + table.rows() * as.stride);
    shared_row = table.shared_row();
  }
  void load(FieldTable& table) const {
    table.load(arena_of(index.data(), index.size() * 8), arena_of(rows.data(), rows.size()), as,
               shared_row, 3);
  }
  /// As files have them whose rows lie further apart.
  void spread(std::size_t wider) {
    std::vector<std::byte> apart(rows.size() / as.stride * wider);
    for (std::size_t row = 0; row < rows.size() / as.stride; ++row) {
      std::copy_n(rows.data() + row * as.stride, as.stride, apart.data() + row * wider);
    }
    rows = std::move(apart);
    as.stride = wider;
  }
  /// The same with accumulators that are floats.
  void with_float_states(const FieldTable& table, std::size_t wider) {
    spread(wider);
    const RowShape& shape = table.shape();
    for (Row row = 0; row < table.rows(); ++row) {
      const std::vector<float> states = states_of(table, row);
      std::memcpy(rows.data() + row * wider + shape.state_begin(sizeof(float)), states.data(),
                  states.size() * sizeof(float));
    }
    as.float_states = true;
  }
};

TEST_CASE("stored rows are taken over; what follows is as if nothing had happened") {
  MemoryBudget budget(kMemory), other_budget(kMemory);
  FieldTable table(4, with_admit(2), kShape, budget);
  for (std::uint32_t i = 0; i < 300; ++i) table.touch(i % 200 * 31);
  FieldTable other(4, with_admit(2), kShape, other_budget);
  Stored(table).load(other);
  CHECK(other.rows() == 100);
  CHECK(other.keys() == 200);
  CHECK(other.shared() == 3);
  CHECK(other_budget.used() == budget.used());
  for (std::uint32_t i = 0; i < 200; ++i) REQUIRE(other.find(i * 31) == table.find(i * 31));
  CHECK(weights_of(other, other.find(0)) == weights_of(table, table.find(0)));
  // Both indexes grow on, and alike.
  for (std::uint32_t i = 200; i < 20000; ++i) {
    table.touch(i * 31);
    other.touch(i * 31);
  }
  REQUIRE(other.capacity() == table.capacity());
  CHECK(std::memcmp(other.index().data(), table.index().data(), table.index().size()) == 0);
  CHECK(other_budget.used() == budget.used());
}

TEST_CASE("rows of files from before are brought together; later ones are zero as ever") {
  const bool slice = GENERATE(true, false), apart = GENERATE(true, false);
  const bool float_states = GENERATE(true, false);
  const RowShape shape{5, 8, slice, 0.5f, kInt16};  // 90 or 240 bytes
  MemoryBudget budget(kMemory), other_budget(kMemory);
  FieldTable table(4, with_admit(2), shape, budget), other(4, with_admit(2), shape, other_budget);
  for (std::uint32_t i = 0; i < 300; ++i) table.touch(i % 200 * 31);
  for (Row row = 0; row < table.rows(); ++row) {
    for (std::size_t i = 0; i < shape.state(); ++i) {
      table.set_state(row, i, static_cast<float>(row + i));
    }
  }
  Stored stored(table);
  const std::size_t used = shape.used_bytes(float_states ? sizeof(float) : shape.state_bytes());
  const std::size_t stride = apart ? odd_lines(used) : packed(used);
  if (float_states && slice) {
    stored.with_float_states(table, stride);
  } else {
    stored.spread(stride);
  }
  stored.load(other);
  CHECK(other_budget.used() == budget.used());
  for (std::uint32_t i = 200; i < 900; ++i) {
    table.touch(i % 400 * 31);
    other.touch(i % 400 * 31);
  }
  REQUIRE(other.rows() == table.rows());
  CHECK(std::memcmp(other.row_arena().data(), table.row_arena().data(),
                    table.rows() * shape.stride()) == 0);
}

TEST_CASE("halves of files from before become fixed-point numbers") {
  const RowShape shape{5, 4, true, 0.5f, kInt16};
  MemoryBudget budget(kMemory), other_budget(kMemory);
  FieldTable table(4, with_admit(1), shape, budget), other(4, with_admit(1), shape, other_budget);
  for (std::uint32_t key = 0; key < 9; ++key) table.touch(key);
  Stored stored(table);
  // 1, -2, 0.333251953125, the smallest, the largest and NaN.
  const std::uint16_t halves[] = {0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff, 0x7e00};
  const float expected[] = {1, -2, 1365 * 0x1p-12f, 0, kInt16.largest(), kInt16.largest()};
  for (std::size_t i = 0; i < 6; ++i) {
    std::memcpy(stored.rows.data() + 3 * stored.as.stride + 2 * i, &halves[i], 2);
  }
  stored.as.halves = true;
  stored.load(other);
  for (std::size_t i = 0; i < 6; ++i) CHECK(other.weight(3, i) == expected[i]);
  CHECK(states_of(other, 3) == states_of(table, 3));
}

TEST_CASE("a row takes half lines, no even number of lines, and never more than before") {
  for (std::uint32_t slots = 1; slots < 200; ++slots) {
    for (const std::uint32_t k : {1u, 2u, 3u, 4u, 8u, 16u}) {
      const RowShape shape{slots, k, true, 1, kInt16};
      REQUIRE(shape.stride() >= shape.used_bytes());
      REQUIRE(shape.stride() < shape.used_bytes() + 64);
      REQUIRE(shape.stride() % 32 == 0);
      REQUIRE(shape.stride() % 128 != 0);
      REQUIRE(shape.stride() <= packed(shape.used_bytes(sizeof(float))));
      REQUIRE(shape.stride() <= odd_lines(shape.used_bytes()));
    }
  }
}

TEST_CASE("a stored index of one slot grows as any other") {
  MemoryBudget budget(kMemory);
  FieldTable table(4, with_admit(1), kShape, budget);
  Arena index(kMemory), rows(kMemory);
  REQUIRE(index.resize(8));
  table.load(std::move(index), std::move(rows), {kShape.stride()}, kNoRow, 0);
  REQUIRE(table.capacity() == 1);
  table.reserve(5);
  for (std::uint32_t key = 0; key < 100; ++key) CHECK(table.touch(key * 31) == key);
}

TEST_CASE("stored rows that do not fit together are refused") {
  MemoryBudget budget(kMemory);
  FieldTable table(4, with_admit(2), kShape, budget);
  for (std::uint32_t i = 0; i < 60; ++i) table.touch(i % 30 * 31);
  Stored bad(table);
  SECTION("fewer index slots than keys") { bad.index.assign(10, std::uint64_t{1} << 32); }
  SECTION("one index slot less") { bad.index.pop_back(); }
  SECTION("no index") { bad.index.clear(); }
  SECTION("a broken row") { bad.rows.pop_back(); }
  SECTION("rows that lie too close together") { bad.as.stride -= 4; }
  SECTION("fewer rows than the index names") { bad.rows.resize(bad.rows.size() - kShape.stride()); }
  SECTION("a shared row that is not there") { bad.shared_row = 30; }
  SECTION("a half-admitted key") { bad.index[0] = (std::uint64_t{0x7fffffff} << 32) | 1; }
  SECTION("no empty slot") {
    for (std::uint64_t& word : bad.index) {
      if (word == 0) word = std::uint64_t{1} << 32;
    }
  }
  FieldTable other(4, with_admit(2), kShape, budget);
  try {
    bad.load(other);
    FAIL("accepted");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()).find("field 4") != std::string::npos);
  }
}

TEST_CASE("threads touch side by side once there is room") {
  const std::uint32_t admit = GENERATE(1, 2);
  const auto [bits, with_words] =
      GENERATE(table<std::uint32_t, bool>({{0, false}, {14, false}, {0, true}}));
  MemoryBudget budget(kMemory);
  FieldTable table(0, with_admit(admit, bits), kShape, budget);
  FieldTable alone(0, with_admit(1, bits), kShape, budget);
  constexpr std::uint32_t kKeys = 3000;
  std::vector<std::uint32_t> words(kKeys);
  const auto word = [&words, use = with_words](std::uint32_t key) {
    return use ? &words[key] : nullptr;
  };
  table.reserve(kKeys);
  table.set_concurrent(true);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 20000; ++i) {
        const std::uint32_t key = random() % kKeys;
        const Row row = i % 4 == 0 ? table.find(key, word(key)) : table.touch(key, word(key));
        // A row that is handed out has its first weights.
        if (row != kNoRow && table.weight(row, 0) == 0) std::abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(table.shared() == 0);
  std::set<Row> rows;
  for (std::uint32_t key = 0; key < kKeys; ++key) {
    const Row row = table.touch(key, word(key));
    if (row == kNoRow) continue;
    rows.insert(row);
    REQUIRE(weights_of(table, row) == weights_of(alone, alone.touch(key)));
  }
  CHECK(rows.size() == table.rows());
  CHECK(rows.size() > kKeys / 2);
}

TEST_CASE("threads run out of memory side by side") {
  const std::uint32_t admit = GENERATE(1, 2);
  MemoryBudget budget(20000);
  FieldTable table(0, with_admit(admit), {16, 4, true, 1}, budget);
  table.reserve(100);
  table.set_concurrent(true);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 2000; ++i) table.touch(i * 4 + t);
      for (std::uint32_t i = 0; i < 2000; ++i) table.touch(i * 4 + t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(table.shared() > 0);
  CHECK(table.rows() > 0);
  std::uint64_t named = 0;
  table.for_each_row([&](std::uint32_t, Row row) {
    ++named;
    CHECK(row < table.rows());
  });
  CHECK(named <= table.rows());
}

}  // namespace
}  // namespace leveret::model
