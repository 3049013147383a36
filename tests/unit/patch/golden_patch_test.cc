// tests/golden/patch-v1.lvp is applied, and made again, byte for byte. To make files of a new
// version: LEVERET_GOLDEN_OUT=patch-v2 test_patch "[.golden-patch]".
#include <stdlib.h>

#include <catch2/catch.hpp>

#include "files/temp_folder.h"
#include "golden_path.h"
#include "patch/patch.h"
#include "store/random_tables.h"

namespace leveret::patch {

using namespace files;

namespace {

TEST_CASE("the patch of version 1 is applied and made byte for byte") {
  const TempFolder folder;
  const std::string old = golden_path("patch-v1-old.lvt"), now = golden_path("patch-v1-new.lvt");
  PatchChain patches({golden_path("patch-v1.lvp")});
  REQUIRE(apply_patches(old, patches, folder / "made", 1) == 1);
  REQUIRE(read_bytes(folder / "made") == read_bytes(now));
  make_patch(store::ModelFile::open(old), store::ModelFile::open(now), {}, folder / "patch", 1);
  REQUIRE(read_bytes(folder / "patch") == read_bytes(golden_path("patch-v1.lvp")));
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
