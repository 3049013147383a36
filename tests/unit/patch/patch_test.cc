// A patch makes the new file out of the old one, bit for bit, whatever changed between them.
#include "patch/patch.h"

#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "files/temp_folder.h"
#include "store/random_tables.h"

namespace leveret::patch {

using namespace files;

namespace {

std::size_t size_of(const std::string& path) { return read_bytes(path).size(); }

std::size_t apply(const std::string& before, const std::vector<std::string>& paths,
                  const std::string& to, unsigned threads) {
  PatchChain patches(paths);
  return apply_patches(before, patches, to, threads);
}

/// Makes a patch from `before` to `now` in the folder, applies it, and compares.
void check_round_trip(const TempFolder& folder, const std::string& before, const std::string& now,
                      unsigned threads = 1) {
  make_patch(store::ModelFile::open(folder / before), store::ModelFile::open(folder / now), {},
             folder / "patch", threads);
  const bool differ = read_bytes(folder / before) != read_bytes(folder / now);
  REQUIRE(apply(folder / before, {folder / "patch"}, folder / "made", threads) == (differ ? 1 : 0));
  REQUIRE(read_bytes(folder / "made") == read_bytes(folder / now));
}

TEST_CASE("tables that change as in training are made again bit for bit") {
  const TempFolder folder;
  const auto seed = GENERATE(range(1u, 6u));
  const double share = GENERATE(0.0, 0.01, 0.1, 0.9);
  store::RandomTables tables(seed);
  tables.save(folder / "old");
  tables.change(share);
  tables.save(folder / "new");
  check_round_trip(folder, "old", "new", 1 + seed % 3);
  check_round_trip(folder, "new", "old");
  INFO(share);
  CHECK(size_of(folder / "patch") <
        (share < 0.05 ? size_of(folder / "new") / 8 : size_of(folder / "new")));
}

TEST_CASE("sections, shards and fields that come and go are made again") {
  const TempFolder folder;
  const std::vector<std::function<void(store::RandomTables&)>> steps = {
      &store::RandomTables::add_field,   &store::RandomTables::add_shard,
      &store::RandomTables::drop_shard,  &store::RandomTables::clear_shard,
      &store::RandomTables::resize_blob, &store::RandomTables::spoil_order};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    INFO("step " << i);
    store::RandomTables tables(i + 1);
    tables.save(folder / "old");
    tables.change(0.05);
    steps[i](tables);
    tables.save(folder / "new");
    check_round_trip(folder, "old", "new");
    check_round_trip(folder, "new", "old");
  }
  store::RandomTables(1).save(folder / "old");
  store::RandomTables(2, 500).save(folder / "new");
  check_round_trip(folder, "old", "new");
}

TEST_CASE("sections of several blocks are made again by any number of threads") {
  const TempFolder folder;
  std::vector<float> weights(3'000'000);
  const auto save = [&](const std::string& path) {
    store::write_model_file(path, store::Kind::kModel, "{}",
                            {store::make_section("w", store::Dtype::kF32, {weights.size()}, {},
                                                 std::span<const float>(weights))});
  };
  std::mt19937 random(1);
  for (float& w : weights) w = static_cast<float>(random()) * 1e-9f;
  save(folder / "old");
  for (std::size_t i = 0; i < weights.size(); i += 1 + random() % 100) weights[i] += 1e-3f;
  save(folder / "new");
  for (const unsigned threads : {1u, 2u, 5u}) {
    check_round_trip(folder, "old", "new", threads);
    static const std::vector<std::byte> first = read_bytes(folder / "patch");
    REQUIRE(read_bytes(folder / "patch") == first);
  }
  for (float& w : weights) w *= 1.1f;
  save(folder / "new");
  check_round_trip(folder, "old", "new", 2);
}

TEST_CASE("a chain is applied in one call, from wherever the old file stands in it") {
  const TempFolder folder;
  store::RandomTables tables(3);
  std::vector<std::string> patches;
  tables.save(folder / "0");
  for (int i = 1; i <= 5; ++i) {
    const std::string last = folder / std::to_string(i - 1), name = folder / std::to_string(i);
    tables.change(0.05);
    tables.save(name);
    patches.push_back(name + ".patch");
    make_patch(store::ModelFile::open(last), store::ModelFile::open(name), {}, patches.back(), 1);
  }
  for (std::size_t from = 0; from <= 5; ++from) {
    write_bytes(folder / "m", read_bytes(folder / std::to_string(from)));
    REQUIRE(apply(folder / "m", patches, folder / "m", 2) == 5 - from);
    REQUIRE(read_bytes(folder / "m") == read_bytes(folder / "5"));
    REQUIRE(apply(folder / "0", patches, folder / "copy", 2) == 5);
    REQUIRE(read_bytes(folder / "copy") == read_bytes(folder / "5"));
  }
  REQUIRE(apply(folder / "m", patches, folder / "other", 1) == 0);
  REQUIRE(read_bytes(folder / "other") == read_bytes(folder / "5"));
  using Catch::Contains;
  const std::vector<std::string> gap = {patches[0], patches[2]};
  REQUIRE_THROWS_WITH(apply(folder / "0", gap, folder / "x", 1),
                      Contains("3.patch: its base is") && Contains("1.patch before it makes"));
  REQUIRE_THROWS_WITH(apply(folder / "4", {patches[1]}, folder / "x", 1),
                      Contains("4: its fingerprint is") && Contains("is for"));
  for (const std::string& name : folder.names()) {
    REQUIRE_THAT(name, !Contains("tmp") && !Contains("x"));
  }
}

TEST_CASE("any two files are made out of each other by bytes") {
  const TempFolder folder;
  std::mt19937 random(5);
  const auto noise = [&](std::size_t n) {
    std::vector<std::byte> bytes(n);
    for (std::byte& b : bytes) b = std::byte(random());
    return bytes;
  };
  const std::vector<std::byte> old = noise(200'000);
  std::vector<std::byte> edited = old;
  for (int i = 0; i < 200; ++i) edited[random() % edited.size()] = std::byte(random());
  const std::vector<std::byte> piece = noise(777);
  edited.insert(edited.begin() + 50'000, piece.begin(), piece.end());
  edited.erase(edited.begin() + 100'001, edited.begin() + 103'333);
  std::rotate(edited.begin(), edited.begin() + 150'000, edited.end());
  const std::vector<std::vector<std::byte>> files = {
      old, edited, {}, noise(1), noise(63), noise(5000), std::vector<std::byte>(100'000)};
  for (std::size_t a = 0; a < files.size(); ++a) {
    for (std::size_t b = 0; b < files.size(); ++b) {
      INFO(a << " to " << b);
      write_bytes(folder / "a", files[a]);
      write_bytes(folder / "b", files[b]);
      make_byte_patch(folder / "a", folder / "b", folder / "p", 2);
      REQUIRE(apply(folder / "a", {folder / "p"}, folder / "c", 2) == (a == b ? 0 : 1));
      REQUIRE(read_bytes(folder / "c") == files[b]);
      if (a + b == 1) REQUIRE(size_of(folder / "p") < 4500);
    }
  }
}

}  // namespace
}  // namespace leveret::patch
