// Patches where something is as far from the usual as it can be: keys without gaps, files that are
// damaged and need no patch, and what the library's way of applying refuses.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "files/temp_folder.h"
#include "patch/patch.h"
#include "patch/patch_chain.h"
#include "patch/small_patch.h"
#include "store/key_order.h"

namespace leveret::patch {

using namespace files;
using Catch::Contains;

namespace {

using Keys = std::vector<std::uint32_t>;

void save_keys(const std::string& path, const Keys& keys) {
  store::Declaration declared;
  declared.role = store::Role::kIndex;
  declared.keys = 1;
  store::write_model_file(path, store::Kind::kModel, "{}",
                          {store::make_section("keys", store::Dtype::kU32, {keys.size()}, declared,
                                               std::span<const std::uint32_t>(keys))});
}

/// All keys of so many mixed values from `first` on, in the order of a file.
Keys keys_without_gaps(std::uint32_t first, std::uint32_t values) {
  Keys keys;
  for (std::uint32_t v = 0; v < values; ++v) {
    store::keys_of_mixed_value(first + v, [&](std::uint32_t key) { keys.push_back(key); });
  }
  return keys;
}

TEST_CASE("keys that lie as close as keys can are made again") {
  const TempFolder folder;
  std::mt19937 random(3);
  for (const std::uint32_t values : {0u, 1u, 7u, 100u, 3000u, 60000u}) {
    INFO(values << " mixed values");
    const Keys all = keys_without_gaps(random(), values);
    save_keys(folder / "none", {});
    save_keys(folder / "all", all);
    Keys some;
    for (const std::uint32_t key : all) {
      if (random() % 8 == 0) some.push_back(key);
    }
    save_keys(folder / "some", some);
    const char* const names[] = {"none", "some", "all"};
    for (const char* from : names) {
      for (const char* to : names) {
        INFO(from << " to " << to);
        make_patch(store::ModelFile::open(folder / from), store::ModelFile::open(folder / to), {},
                   folder / "p", 1);
        PatchChain patches({folder / "p"});
        apply_patches(folder / from, patches, folder / "made", 1);
        REQUIRE(read_bytes(folder / "made") == read_bytes(folder / to));
      }
    }
  }
}

TEST_CASE("a damaged file that needs no patch is not handed on") {
  const SmallPatch sample(PatchKind::kSections);
  const TempFolder to;
  // The table says which file it is; what is damaged here are the sections.
  const std::uint64_t begin = store::ModelFile::open(sample.folder / "new").sections()[0].offset;
  std::size_t refused = 0;
  for (std::size_t i = begin; i < sample.result.size(); i += 61) {
    Bytes bad = sample.result;
    bad[i] ^= std::byte{4};
    write_bytes(sample.folder / "new", bad);
    PatchChain patches({sample.folder / "patch"});
    REQUIRE_THROWS_WITH(apply_patches(sample.folder / "new", patches, to / "made", 1),
                        Contains("new: byte "));
    REQUIRE(to.names().empty());
    const store::ModelFile open = store::ModelFile::open(sample.folder / "new");
    REQUIRE_THROWS_WITH(apply_patches(open, patches, to / "made", 1), Contains("new: byte "));
    REQUIRE(to.names().empty());
    ++refused;
  }
  CHECK(refused > 20);
}

TEST_CASE("an open model takes patches of models alone, to a file alone") {
  const SmallPatch sample(PatchKind::kSections), of_bytes(PatchKind::kBytes);
  const TempFolder to;
  const store::ModelFile old = store::ModelFile::open(sample.folder / "old");
  {
    PatchChain patches({of_bytes.folder / "patch"});
    REQUIRE_THROWS_WITH(apply_patches(old, patches, to / "made", 1),
                        Contains("is a patch of bytes"));
  }
  PatchChain patches({sample.folder / "patch"});
  std::filesystem::create_directory(to / "folder");
  for (const std::string& path : {to / "folder", std::string("/dev/null")}) {
    REQUIRE_THROWS_WITH(apply_patches(old, patches, path, 1), Contains("is no regular file"));
  }
  REQUIRE(apply_patches(old, patches, to / "made", 1) != nullptr);  // not committed
  CHECK(to.names() == std::vector<std::string>{"folder"});
}

TEST_CASE("a model that is written to while it is patched gives no newer one") {
  const SmallPatch sample(PatchKind::kSections);
  const store::ModelFile old = store::ModelFile::open(sample.folder / "old");
  // Bytes that a patch does not read: behind the last section.
  std::ofstream(sample.folder / "old", std::ios::app | std::ios::binary) << "x";
  PatchChain patches({sample.folder / "patch"});
  REQUIRE_THROWS_WITH(apply_patches(old, patches, sample.folder / "made", 1),
                      Contains("old: ") && Contains("chang"));
}

}  // namespace
}  // namespace leveret::patch
