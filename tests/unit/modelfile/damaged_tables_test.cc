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

using table::RowRef;

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

/// What load_tables says against it; empty when it loads.
std::string complaint(const ModelParts& parts, LoadBy by = LoadBy::kReading) {
  const files::TempFolder folder;
  parts.write(folder / "bad");
  try {
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
/// The place of the first ref for which `is` holds, after `from`.
std::size_t find_ref(const std::vector<std::uint32_t>& refs, std::function<bool(RowRef)> is,
                     std::size_t from = 0) {
  while (!is(RowRef::from_word(refs.at(from)))) ++from;
  return from;
}
bool has_row(RowRef ref) { return ref.has_row(); }
bool counts(RowRef ref) { return !ref.has_row(); }
bool has_largest(RowRef ref) { return ref.has_largest_value(); }

TEST_CASE("what is not damaged is loaded") {
  Saved saved;
  CHECK(complaint(saved.parts()).empty());
}

TEST_CASE("keys in another order, twice, or of nobody are refused") {
  Saved saved;
  ModelParts bad = saved.parts();
  for (const char* const name : {"rest.keys", "field.0.keys", "field.2.keys"}) {
    change(bad, name, [&](auto& keys) { std::swap(keys[7], keys[8]); });
    CHECK_THAT(complaint(bad), Catch::Contains("keys in the wrong order"));
    bad = saved.parts();
    change(bad, name, [&](auto& keys) { keys[8] = keys[7]; });
    CHECK_THAT(complaint(bad), Catch::Contains("keys in the wrong order"));
    bad = saved.parts();
    change(bad, name, [&](auto& keys) { keys.back() = table::kNoKey; });
    CHECK_THAT(complaint(bad), Catch::Contains("keys in the wrong order"));
    bad = saved.parts();
  }
}

TEST_CASE("each row has one name, and is there") {
  Saved saved;
  ModelParts bad = saved.parts();
  std::string expected;
  change(bad, "field.1.refs", [&](auto& refs) {
    const std::size_t first = find_ref(refs, has_row), second = find_ref(refs, has_row, first + 1),
                      none = find_ref(refs, counts);
    const auto put = [&](std::size_t at, auto as) {
      refs[at] = as(RowRef::from_word(refs[at])).word();
    };
    SECTION("two features name it") {
      refs[first] = refs[second];
      expected = "names a row twice";
    }
    SECTION("a feature that had none names it, too") {
      const Row row = RowRef::from_word(refs[first]).row();
      put(none, [&](RowRef ref) { return ref.with_row(row); });
      expected = "names a row twice";
    }
    SECTION("one that is just not there") {
      put(first, [](RowRef ref) { return ref.with_row(40); });
      expected = "names a row that it has not";
    }
    SECTION("the largest number") {
      put(first, [](RowRef ref) { return ref.with_row((1u << 30) - 1); });
      expected = "names a row that it has not";
    }
    SECTION("nobody names it") {
      put(first, [](RowRef ref) { return ref.with_occurrences(3); });
      expected = "has a row that no key names";
    }
    SECTION("it is being made") {
      put(none, [](RowRef ref) { return ref.being_made(); });
      expected = "has a row that is being made";
    }
    SECTION("it is being made, of a feature with a largest value") {
      put(find_ref(refs, [](RowRef ref) { return counts(ref) && has_largest(ref); }),
          [](RowRef ref) { return ref.being_made(); });
      expected = "has a row that is being made";
    }
  });
  REQUIRE_FALSE(expected.empty());
  CHECK_THAT(complaint(bad), Catch::Contains(expected));
}

TEST_CASE("features without a field name no rows") {
  Saved saved;
  ModelParts bad = saved.parts();
  change(bad, "rest.refs",
         [](auto& refs) { refs[3] = RowRef::from_word(refs[3]).with_row(0).word(); });
  CHECK_THAT(complaint(bad), Catch::Contains("names a row that it has not"));
}

TEST_CASE("largest values and their bits belong together") {
  Saved saved;
  ModelParts bad = saved.parts();
  const char* const shard = GENERATE("rest.", "field.1.");
  const std::string keys = std::string(shard) + "largest.keys", refs = std::string(shard) + "refs";
  std::string expected = "has a largest value";
  const auto without = [&] {
    const std::size_t at =
        find_ref(words(bad.part(refs)), [](RowRef r) { return !has_largest(r); });
    return words(bad.part(std::string(shard) + "keys"))[at];
  };
  SECTION("a value of a feature without the bit") {
    change(bad, keys, [&](auto& all) { all[3] = without(); });
  }
  SECTION("a value of a key that nobody knows") {
    change(bad, keys, [](auto& all) { all[3] = 12345; });
  }
  SECTION("no key") {
    change(bad, keys, [](auto& all) { all[3] = table::kNoKey; });
  }
  SECTION("a value twice") {
    change(bad, keys, [](auto& all) { all[3] = all[2]; });
  }
  SECTION("a bit without a value") {
    change(bad, refs, [](auto& all) {
      const std::size_t at = find_ref(all, [](RowRef ref) { return !has_largest(ref); });
      all[at] = RowRef::from_word(all[at]).with_largest_value().word();
    });
    expected = "largest.keys in a shape";
  }
  SECTION("a value without a bit") {
    change(bad, refs, [](auto& all) { all[find_ref(all, has_largest)] &= ~(1u << 30); });
    expected = "largest.keys in a shape";
  }
  SECTION("bits, and no values") {
    std::erase_if(bad.parts, [&](const auto& part) { return part.name.starts_with(keys); });
    expected = "lacks the largest value";
  }
  CHECK_THAT(complaint(bad), Catch::Contains(expected));
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
      return complaint(bad);
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
    CHECK_THAT(complaint(bad), Catch::Contains(name));
    bad = good;
    bad.parts.erase(bad.parts.begin() + static_cast<std::ptrdiff_t>(i));
    // These are looked for where a feature has a largest value.
    const std::string said_instead = name == "rest.refs"              ? "rest.largest.keys"
                                     : name.ends_with("largest.keys") ? "lacks the largest value"
                                                                      : name;
    CHECK_THAT(complaint(bad), Catch::Contains(said_instead));
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
  REQUIRE(complaint(bad).empty());
  std::string expected;
  SECTION("one too few") {
    states.erase(3);
    expected = "another number of fields";
  }
  SECTION("one too many") {
    states.push_back(states[3]);
    expected = "another number of fields";
  }
  SECTION("an overflow row that is not there") {
    states[2]["overflow_row"] = 1000000;
    expected = "names a row that it has not";
  }
  SECTION("of features without a field") {
    states[0]["overflow_row"] = 0;
    expected = "names a row that it has not";
  }
  SECTION("an overflow row that a feature names") {
    const auto refs = words(bad.part("field.1.refs"));
    states[2]["overflow_row"] = RowRef::from_word(refs[find_ref(refs, has_row)]).row();
    expected = "names a row twice";
  }
  SECTION("no overflow row, though there is one") {
    states[2]["overflow_row"] = table::kNoRow;
    expected = "has a row that no key names";
  }
  SECTION("no cell of the overflow slot") {
    std::erase_if(bad.parts, [](const auto& part) { return part.name == "field.1.overflow_cell"; });
    expected = "field.1.overflow_cell";
  }
  CHECK_THAT(complaint(bad), Catch::Contains(expected));
}

TEST_CASE("rows that are mapped have one name, too") {
  const auto serving = options_of(table::layout_of_slots(kFields).for_serving());
  const auto tables = make_tables(serving);
  learn(*tables, 1, 60);
  const files::TempFolder folder;
  save(*tables, folder / "a");
  ModelParts bad(folder / "a");
  REQUIRE_NOTHROW(loaded(folder / "a", serving, 0, table::kMemory, LoadBy::kMapping));
  change(bad, "field.1.refs", [](auto& refs) {
    const std::size_t first = find_ref(refs, has_row);
    refs[first] = refs[find_ref(refs, has_row, first + 1)];
  });
  bad.write(folder / "b");
  CHECK_THROWS_WITH(loaded(folder / "b", serving, 0, table::kMemory, LoadBy::kMapping),
                    Catch::Contains("names a row twice"));
}

TEST_CASE("cells without keys have the shape that -b says") {
  const auto options = options_of(kLayout);
  const auto tables = make_tables(options, 6);
  learn(*tables, 1, 60);
  const files::TempFolder folder;
  save(*tables, folder / "a");
  CHECK_NOTHROW(loaded(folder / "a", options, 6));
  CHECK_THROWS_WITH(loaded(folder / "a", options, 7), Catch::Contains("cells"));
  CHECK_THROWS_WITH(loaded(folder / "a", options_of(kLayout, CellKind::kFtrl), 6),
                    Catch::Contains("cells"));
}

}  // namespace
}  // namespace leveret::modelfile
