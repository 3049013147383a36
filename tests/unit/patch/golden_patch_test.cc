// tests/golden/patch-v1.lvp is applied, and made again: byte for byte, but for the new file's
// table, which is packed by zstd, by each of its versions in its own way. To make files of a new
// version: LEVERET_GOLDEN_OUT=patch-v2 test_patch "[.golden-patch]".
#include <stdlib.h>
#include <zstd.h>

#include <catch2/catch.hpp>

#include "files/temp_folder.h"
#include "golden_path.h"
#include "patch/patch.h"
#include "store/random_tables.h"

namespace leveret::patch {

using namespace files;

namespace {

/// The version of zstd that the golden patch was made with.
constexpr unsigned kZstdOfGolden = 10504;

/// All but what the table takes.
std::string told(const std::string& patch) {
  const PatchDescription description = describe_patch(patch);
  std::string all;
  for (const auto& section : description.sections) {
    all += section.name + " " + std::to_string(section.codes) + " " +
           std::to_string(section.changes) + " " + std::to_string(section.fresh_rows) + " " +
           std::to_string(section.bytes) + "\n";
  }
  for (const auto& keys : description.keys) {
    all += keys.name + " " + std::to_string(keys.bytes) + "\n";
  }
  return all + std::to_string(description.bytes - description.table_bytes);
}

TEST_CASE("the patch of version 1 is applied, and made as it was") {
  const TempFolder folder;
  const std::string old = golden_path("patch-v1-old.lvt"), now = golden_path("patch-v1-new.lvt");
  PatchChain patches({golden_path("patch-v1.lvp")});
  REQUIRE(apply_patches(old, patches, folder / "made", 1) == 1);
  REQUIRE(read_bytes(folder / "made") == read_bytes(now));
  make_patch(store::ModelFile::open(old), store::ModelFile::open(now), {}, folder / "patch", 1);
  CHECK(told(folder / "patch") == told(golden_path("patch-v1.lvp")));
  PatchChain again({folder / "patch"});
  REQUIRE(apply_patches(old, again, folder / "made again", 1) == 1);
  CHECK(read_bytes(folder / "made again") == read_bytes(now));
  if (ZSTD_versionNumber() != kZstdOfGolden) return;
  CHECK(read_bytes(folder / "patch") == read_bytes(golden_path("patch-v1.lvp")));
}

TEST_CASE("write a golden patch", "[.golden-patch]") {
  const char* const out = ::getenv("LEVERET_GOLDEN_OUT");
  REQUIRE(out != nullptr);
  const std::string stem = out;
  store::RandomTables tables(9, 20);
  tables.save(stem + "-old.lvt");
  tables.change(0.2);
  tables.add_shard();
  tables.add_field();
  tables.save(stem + "-new.lvt");
  make_patch(store::ModelFile::open(stem + "-old.lvt"), store::ModelFile::open(stem + "-new.lvt"),
             {}, stem + ".lvp", 1);
}

}  // namespace
}  // namespace leveret::patch
