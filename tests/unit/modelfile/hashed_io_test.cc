// Hashed tables in files: touched slots alone, all of them as in older files, and what cannot be.
#include "modelfile/hashed_io.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "modelfile/saved_tables.h"
#include "store/key_order.h"

namespace leveret::modelfile {
namespace {

using files::read_bytes;
using files::TempFolder;
using Slots = std::vector<std::uint32_t>;

constexpr std::uint32_t kBits = 12;

/// Tables of a kind that have learned from so many features.
struct SavedSlots {
  explicit SavedSlots(CellKind kind = CellKind::kMixed, std::uint32_t features = 90)
      : options(options_of(RowLayout(), kind)), tables(make_tables(options, kBits)) {
    if (features > 0) learn(*tables, 1, features);
    save(*tables, folder / "a");
  }
  ModelParts parts() const { return ModelParts(folder / "a"); }

  /// What is said against such a file; empty when it loads.
  std::string complaint(const ModelParts& parts, std::uint32_t bits = kBits) const {
    try {
      parts.write(folder / "bad");
      loaded(folder / "bad", options, bits);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  table::ShardOptions options;
  std::unique_ptr<Tables> tables;
  TempFolder folder;
};

Slots slots_of(const ModelParts::Part& part) {
  Slots slots(part.bytes.size() / sizeof(std::uint32_t));
  std::memcpy(slots.data(), part.bytes.data(), part.bytes.size());
  return slots;
}

/// The file with change(slots) in place of its slots, as many of them.
template <class Change>
ModelParts changed(const SavedSlots& saved, Change change) {
  ModelParts parts = saved.parts();
  ModelParts::Part& part = parts.part("cells.keys");
  Slots slots = slots_of(part);
  change(slots);
  REQUIRE(slots.size() == part.shape[0]);
  std::memcpy(part.bytes.data(), slots.data(), part.bytes.size());
  return parts;
}

TEST_CASE("a file has the touched slots of a hashed table alone, as leveret-model(5) says") {
  const SavedSlots saved;
  const std::uint64_t used = saved.tables->hashed()->used();
  REQUIRE(used > 80);
  REQUIRE(used < 91);
  const ModelParts file = saved.parts();
  const std::vector<std::string> names = {"keys", "weight", "sum",   "weight2",
                                          "fast", "clicks", "count", "largest_value"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ModelParts::Part& part = file.parts[i];
    INFO(part.name);
    CHECK(part.name == "cells." + names[i]);
    CHECK(part.shape == std::vector<std::uint64_t>{used});
    CHECK(part.declared.keys == 1);
    CHECK(!part.declared.last_keys);
    CHECK(part.dtype == (i == 0 ? store::Dtype::kU32 : store::Dtype::kF32));
  }
  CHECK(file.parts[0].declared.role == store::Role::kIndex);
  CHECK(file.parts[2].declared.role == store::Role::kState);
  CHECK(std::ranges::is_sorted(slots_of(file.parts[0]), {}, store::key_place));
}

TEST_CASE("the same cells make the same file, whatever came before") {
  const SavedSlots saved;
  const auto other = make_tables(saved.options, kBits);
  learn(*other, 1, 400);
  for (std::uint64_t i = 0; i < other->hashed()->capacity(); ++i) {
    std::memcpy(static_cast<void*>(other->hashed()->at(i)), saved.tables->hashed()->at(i),
                other->hashed()->stride());
  }
  std::vector<store::SectionView> sections, others;
  add_hashed(sections, *saved.tables->hashed());
  add_hashed(others, *other->hashed());
  store::write_model_file(saved.folder / "b", store::Kind::kModel, "{}", sections);
  store::write_model_file(saved.folder / "c", store::Kind::kModel, "{}", others);
  CHECK(read_bytes(saved.folder / "b") == read_bytes(saved.folder / "c"));
}

TEST_CASE("slots that cannot be are refused") {
  const SavedSlots saved;
  REQUIRE(saved.complaint(saved.parts()).empty());
  const auto refused = [&](const ModelParts& parts, const char* why) {
    CHECK_THAT(saved.complaint(parts),
               Catch::Contains(why) && Catch::Contains("the file is damaged"));
  };
  refused(changed(saved, [](Slots& s) { std::swap(s[3], s[4]); }), "in the wrong order");
  refused(changed(saved, [](Slots& s) { std::swap(s.front(), s.back()); }), "in the wrong order");
  refused(changed(saved, [](Slots& s) { s[5] = s[4]; }), "or twice");
  refused(changed(saved, [](Slots& s) { std::ranges::sort(s); }), "in the wrong order");
  for (const std::uint32_t slot : {1u << kBits, 0xffffffffu}) {
    const auto put = [slot](Slots& s) {
      s[7] = slot;
      std::ranges::sort(s, {}, store::key_place);
    };
    refused(changed(saved, put), "slots that -b does not have");
  }
}

TEST_CASE("more slots than there are, and columns of another number, are refused") {
  const SavedSlots few;
  ModelParts bad = few.parts();
  bad.part("cells.sum").bytes.resize(bad.part("cells.sum").bytes.size() - 4);
  --bad.part("cells.sum").shape[0];
  CHECK_THAT(few.complaint(bad), Catch::Contains("cells.sum"));
  bad = few.parts();
  bad.part("cells.weight2").declared.keys = 0;
  CHECK_THAT(few.complaint(bad), Catch::Contains("cells.weight2"));
  bad = few.parts();
  bad.erase("cells.keys");
  CHECK_THAT(few.complaint(bad), Catch::Contains("cells.keys"));
  CHECK_THAT(few.complaint(few.parts(), 5), Catch::Contains("more slots than -b says"));
  CHECK_THAT(few.complaint(few.parts(), kBits - 1), Catch::Contains("slots that -b does not have"));
}

TEST_CASE("to predict, columns of the optimizer are not read") {
  const SavedSlots saved;
  const auto tables = loaded(saved.folder / "a", saved.options, kBits, table::kMemory,
                             LoadBy::kMapping, model::Use::kPredict);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < tables->hashed()->capacity(); ++i) {
    const table::Cell &a = *saved.tables->hashed()->at(i), &b = *tables->hashed()->at(i);
    wrong += a.weight != b.weight || b.sum != 0 || table::mixed(a).count != table::mixed(b).count;
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace leveret::modelfile
