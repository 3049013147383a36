// tests/golden/container-v1.lvt is read and made again, byte for byte. To make the file of a new
// version: LEVERET_GOLDEN_OUT=container-v2.lvt test_store "[.golden]".
#include <stdlib.h>

#include <catch2/catch.hpp>

#include "files/temp_folder.h"
#include "golden_path.h"
#include "store/sample_model.h"

namespace leveret::store {

using namespace files;

namespace {

TEST_CASE("the file of version 1 is read and made byte for byte") {
  const std::string path = golden_path("container-v1.lvt");
  const ModelFile file = ModelFile::open(path);
  REQUIRE(file.header_json() == SampleModel::kHeader);
  const SampleModel model;
  const auto expected = model.sections();
  REQUIRE(file.sections().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const StoredSection& section = file.sections()[i];
    REQUIRE(section.name == expected[i].name);
    REQUIRE(section.dtype == expected[i].dtype);
    REQUIRE(section.shape == expected[i].shape);
    REQUIRE(section.declared == expected[i].declared);
    const std::vector<std::byte> bytes = file.read(section);
    REQUIRE(std::equal(bytes.begin(), bytes.end(), expected[i].data,
                       expected[i].data + expected[i].bytes));
  }
  const TempFolder folder;
  model.save(folder / "now");
  REQUIRE(read_bytes(folder / "now") == read_bytes(path));
}

TEST_CASE("write a golden file", "[.golden]") {
  const char* out = ::getenv("LEVERET_GOLDEN_OUT");
  REQUIRE(out != nullptr);
  SampleModel().save(out);
}

}  // namespace
}  // namespace leveret::store
