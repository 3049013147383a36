// Sections of tables that do not fit together, behind checksums that are right.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "modelfile/model_parts.h"
#include "modelfile/saved_tables.h"

namespace leveret::modelfile {
namespace {

const RowLayout kLayout = table::layout_of_two_parts(kFields);

/// Saved tables in parts. Field 2 has run out of nothing; all have keys with and without a row.
struct Saved {
  explicit Saved(std::uint64_t memory = table::kMemory)
      : tables(make_tables(options_of(kLayout), 0, memory)) {
    learn(*tables, 1, 60);
  }
  ModelParts parts() const {
    save(*tables, folder / "good");
    return ModelParts(folder / "good");
  }

  files::TempFolder folder;
  std::unique_ptr<Tables> tables;
};

/// What the store or load_tables says against it; empty when it loads.
std::string parts_complaint(const ModelParts& parts, LoadBy by = LoadBy::kReading) {
  const files::TempFolder folder;
  try {
    parts.write(folder / "bad");
    loaded(folder / "bad", options_of(kLayout), 0, table::kMemory, by);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

std::vector<std::uint32_t> words(const ModelParts::Part& part) {
  std::vector<std::uint32_t> all(part.bytes.size() / 4);
  std::memcpy(all.data(), part.bytes.data(), part.bytes.size());
  return all;
}
/// Calls change(numbers of the section).
template <class Change>
void change(ModelParts& parts, const std::string& name, Change change) {
  ModelParts::Part& part = parts.part(name);
  std::vector<std::uint32_t> all = words(part);
  change(all);
  std::memcpy(part.bytes.data(), all.data(), part.bytes.size());
}
TEST_CASE("what is not damaged is loaded") {
  Saved saved;
  CHECK(parts_complaint(saved.parts()).empty());
}

TEST_CASE("keys in another order, twice, or of nobody are refused") {
  Saved saved;
  const char* const name = GENERATE("rest.keys", "field.0.keys", "field.2.keys");
  const auto refused = [&](auto damage) {
    ModelParts bad = saved.parts();
    change(bad, name, damage);
    CHECK_THAT(parts_complaint(bad), Catch::Contains("keys in the wrong order"));
  };
  refused([](auto& keys) { std::swap(keys[7], keys[8]); });
  refused([](auto& keys) { keys[8] = keys[7]; });
  refused([](auto& keys) { keys.back() = table::kNoKey; });
  refused([](auto& keys) { keys[0] = table::kNoKey; });
}

TEST_CASE("a key with a row is none without one, and each run of keys is in order") {
  Saved saved;
  const std::size_t rows = ModelParts(saved.parts()).part("field.1.rows.0.weights").shape[0];
  const auto refused = [&](auto damage) {
    ModelParts bad = saved.parts();
    change(bad, "field.1.keys", damage);
    CHECK_THAT(parts_complaint(bad), Catch::Contains("keys in the wrong order"));
  };
  refused([&](auto& keys) { std::swap(keys[rows - 1], keys[rows]); });
  refused([&](auto& keys) { keys[rows] = keys[rows - 1]; });
  refused([&](auto& keys) {  // the first run's first key stands in the second run, in order
    keys.insert(std::ranges::find_if(keys.begin() + static_cast<std::ptrdiff_t>(rows), keys.end(),
                                     [&](Key key) { return table::Index::before(keys[0], key); }),
                keys[0]);
    keys.pop_back();
  });
}

TEST_CASE("keys that have been chosen to share a home are refused, and soon") {
  // Neighbours in the order of mixed values: the inverse of the multiplication finds them.
  constexpr std::uint32_t kKeys = 300000;
  const auto tables = make_tables(options_of(RowLayout(), CellKind::kNone));
  std::vector<Key> keys;
  for (std::uint64_t key = 1; keys.size() < kKeys; ++key) {
    // 0x9e3779b97f4a7c15 * key, by its upper half, lies in a 512th of all values.
    if (table::mixed_value(static_cast<Key>(key)) < (1u << 23))
      keys.push_back(static_cast<Key>(key));
  }
  std::sort(keys.begin(), keys.end(), table::Index::before);
  const files::TempFolder folder;
  save(*tables, folder / "empty");
  ModelParts bad(folder / "empty");
  ModelParts::Part& part = bad.part("rest.keys");
  part.shape = {kKeys};
  part.bytes.resize(std::size_t{4} * kKeys);
  std::memcpy(part.bytes.data(), keys.data(), part.bytes.size());
  bad.write(folder / "bad");
  auto again = make_tables(options_of(RowLayout(), CellKind::kNone));
  CHECK_THROWS_WITH(load(*again, folder / "bad"), Catch::Contains("no hash makes"));
}

TEST_CASE("what is known of features without a row is possible") {
  Saved saved(200000);
  Shard& shard = saved.tables->field(1);
  for (std::uint32_t i = 500; i < 520; ++i) shard.find_or_insert(key_number(i));
  learn(*saved.tables, 1000, 3000);
  // Now there is no memory for rows of those that are known.
  for (std::uint32_t i = 500; i < 520; ++i) learn(shard, i, 2, 0);
  const ModelParts good = saved.parts();
  REQUIRE(parts_complaint(good).empty());
  const auto refused = [&](const char* name, auto damage, const char* expected) {
    ModelParts bad = good;
    change(bad, name, damage);
    CHECK_THAT(parts_complaint(bad), Catch::Contains(expected));
  };
  const char* const seen = "field.1.occurrences";
  const char* const positions = "field.1.refused";
  const std::uint32_t rows =
      static_cast<std::uint32_t>(ModelParts(good).part("field.1.rows.0.weights").shape[0]);
  refused(
      seen, [](auto& all) { all[0] = table::RowRef::kMaxRows; },
      "impossible number of occurrences");
  refused(
      seen, [](auto& all) { all[0] = ~0u; }, "impossible number of occurrences");
  const std::uint32_t first = words(ModelParts(good).part(positions))[0];
  refused(
      seen, [&](auto& all) { all[first - rows] = 1; }, "counts a refused key");
  const char* const expected = "lists refused keys";
  refused(
      positions, [&](auto& all) { all[0] = rows - 1; }, expected);
  refused(
      positions, [](auto& all) { all.back() = ~0u; }, expected);
  refused(
      positions, [](auto& all) { all[1] = all[0]; }, expected);
  refused(
      positions, [](auto& all) { std::swap(all[0], all[1]); }, expected);
  // In a shard without rows there is no such thing.
  ModelParts bad = good;
  bad.part(positions).name = "rest.refused";
  CHECK_THAT(parts_complaint(bad), Catch::Contains("rest.refused"));
}

TEST_CASE("largest values belong to features, once each and in order") {
  Saved saved;
  const std::string name = GENERATE("rest.largest.keys", "field.1.largest.keys");
  const auto refused = [&](auto damage) {
    ModelParts bad = saved.parts();
    change(bad, name, damage);
    CHECK_THAT(parts_complaint(bad), Catch::Contains("has a largest value"));
  };
  refused([](auto& all) { all[3] = 12345; });
  refused([](auto& all) { all[3] = table::kNoKey; });
  refused([](auto& all) { all[3] = all[2]; });
  refused([](auto& all) { std::swap(all[3], all[2]); });
}

/// As many bytes more or fewer as the shape says.
void set_shape(ModelParts::Part& part, std::vector<std::uint64_t> shape) {
  part.bytes.resize(store::array_bytes(part.dtype, shape).value());
  part.shape = std::move(shape);
}

TEST_CASE("sections of another shape or type, and those that are missing, are named") {
  Saved saved;
  const ModelParts good = saved.parts();
  int tried = 0;
  for (std::size_t i = 0; i < good.parts.size(); ++i) {
    const std::string& name = good.parts[i].name;
    INFO(name);
    const auto said = [&](std::vector<std::uint64_t> shape) {
      ModelParts bad = good;
      set_shape(bad.parts[i], std::move(shape));
      ++tried;
      return parts_complaint(bad);
    };
    const std::vector<std::uint64_t> shape = good.parts[i].shape;
    // Another length: of keys and of rows the first section says how many there are.
    for (const std::uint64_t length : {shape[0] - 1, shape[0] + 1, std::uint64_t{0}}) {
      std::vector<std::uint64_t> other = shape;
      other[0] = length;
      CHECK_FALSE(said(other).empty());
    }
    for (std::size_t d = 1; d < shape.size(); ++d) {
      for (const std::uint64_t length : {shape[d] - 1, shape[d] + 1}) {
        std::vector<std::uint64_t> other = shape;
        other[d] = length;
        CHECK_THAT(said(other), Catch::Contains(name));
      }
    }
    std::vector<std::uint64_t> more = shape;
    more.push_back(1);
    CHECK_THAT(said(more), Catch::Contains(name));
    ModelParts bad = good;
    const bool is_float = bad.parts[i].dtype == store::Dtype::kF32;
    bad.parts[i].dtype = is_float ? store::Dtype::kU32 : store::Dtype::kF32;
    set_shape(bad.parts[i], shape);
    CHECK_THAT(parts_complaint(bad), Catch::Contains(name));
    bad = good;
    bad.erase(i);
    const std::string said_of_it = parts_complaint(bad);
    // Without largest values of features there is nobody who has the values.
    CHECK_THAT(said_of_it, Catch::Contains(name.ends_with("largest.keys")
                                               ? name.substr(0, name.size() - 4) + "values"
                                               : name));
  }
  CHECK(tried > 150);
}

TEST_CASE("states of shards that are not theirs are refused") {
  Saved saved(200000);
  learn(*saved.tables, 1000, 3000);
  REQUIRE(saved.tables->field(1).overflow_row() != table::kNoRow);
  REQUIRE(saved.tables->field(1).overflow_slot() != nullptr);
  ModelParts bad = saved.parts();
  nlohmann::ordered_json& states = bad.header["shards"];
  REQUIRE(parts_complaint(bad).empty());
  std::string expected;
  SECTION("one too few") {
    states.erase(3);
    expected = "another number of fields";
  }
  SECTION("one too many") {
    states.push_back(states[3]);
    expected = "another number of fields";
  }
  SECTION("no weights of the overflow row, though there are states") {
    bad.erase("field.1.overflow.rows.0.weights");
    expected = "field.1.overflow.rows.0.state.0";
  }
  SECTION("no states of the overflow row") {
    bad.erase("field.1.overflow.rows.1.state.0");
    expected = "field.1.overflow.rows.1.state.0";
  }
  SECTION("two overflow rows") {
    set_shape(bad.part("field.1.overflow.rows.0.weights"), {2, 3, 4});
    expected = "field.1.overflow.rows.0.weights in a shape";
  }
  SECTION("no cell of the overflow slot") {
    bad.erase("field.1.overflow.count");
    expected = "field.1.overflow.count";
  }
  SECTION("an overflow cell, but no look-up that ended there") {
    states[2]["overflow_lookups"] = 0;
    expected = "field.1.overflow.";
  }
  CHECK_THAT(parts_complaint(bad), Catch::Contains(expected));
}

TEST_CASE("a section that says something else of itself is named") {
  Saved saved(200000);
  learn(*saved.tables, 1000, 3000);
  const ModelParts good = saved.parts();
  const auto refused = [](const ModelParts& bad, const std::string& name) {
    INFO(name);
    CHECK_THAT(parts_complaint(bad), Catch::Contains(name));
  };
  for (std::size_t i = 0; i < good.parts.size(); ++i) {
    const ModelParts::Part& part = good.parts[i];
    ModelParts bad = good;
    bad.parts[i].declared.optional = true;
    refused(bad, part.name);
    const bool keys = part.declared.keys == i + 1;
    if (!keys) {
      bad = good;
      bad.parts[i].declared.role =
          part.declared.role == store::Role::kState ? store::Role::kStatistic : store::Role::kState;
      refused(bad, part.name);
      bad = good;
      bad.parts[i].declared.keys = part.declared.keys == 0 ? 1 : 0;
      bad.parts[i].declared.last_keys = false;
      // One number may have the one key that there is.
      if (part.declared.keys > 0 || part.shape[0] <= good.parts[0].shape[0]) {
        refused(bad, part.name);
      }
    }
    bad = good;
    const bool fixed = part.declared.coding == store::Coding::kFixed;
    if (fixed) bad.parts[i].declared.scale *= 2;
    const bool whole = part.dtype == store::Dtype::kU32;
    if (whole) bad.parts[i].declared.coding = store::Coding::kFixed;
    if (fixed || whole) refused(bad, part.name);
  }
}

TEST_CASE("cells of another kind than the spec's are refused") {
  const auto options = options_of(kLayout);
  const auto tables = make_tables(options, 6);
  learn(*tables, 1, 60);
  const files::TempFolder folder;
  save(*tables, folder / "a");
  CHECK_NOTHROW(loaded(folder / "a", options, 6));
  CHECK_THROWS_WITH(loaded(folder / "a", options_of(kLayout, CellKind::kFtrl), 6),
                    Catch::Contains("cells"));
  CHECK_THROWS_WITH(loaded(folder / "a", options, 5), Catch::Contains("-b"));
  ModelParts without(folder / "a");
  without.erase("cells.keys");
  without.write(folder / "b");
  CHECK_THROWS_WITH(loaded(folder / "b", options, 6), Catch::Contains("cells.keys"));
}

}  // namespace
}  // namespace leveret::modelfile
