// The export in tests/golden predicts for ever what it predicted, and is what is made of the golden
// model. To make it anew with a new version:
// LEVERET_GOLDEN_OUT=tests/golden/export-v2.lvt test_modelfile "[.golden]".
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "golden_path.h"
#include "modelfile/export_helpers.h"

namespace leveret::modelfile {
namespace {

/// What is in the file: rows of four bits, and features left out.
ExportOptions golden_options() {
  ExportOptions options = bits_of(4);
  options.min_count = 5;
  return options;
}

TEST_CASE("the export of version 1 is made again, and predicts nearly what its model does") {
  const files::TempFolder folder;
  export_model(golden_path("model-v1.lvt"), folder / "e", golden_options());
  CHECK(files::read_bytes(folder / "e") == files::read_bytes(golden_path("export-v1.lvt")));
  std::ifstream in(golden_path("model-v1.txt"));
  std::string lines, line;
  std::vector<float> expected;
  while (std::getline(in, line)) {
    const std::size_t tab = line.find('\t');
    expected.push_back(std::stof(line.substr(0, tab)));
    lines += line.substr(tab + 1) + '\n';
  }
  REQUIRE(expected.size() == 30);
  const std::vector<float> got = predictions(golden_path("export-v1.lvt"), lines);
  CHECK(got == predictions(golden_path("export-v1.lvt"), lines, LoadBy::kMapping));
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::fabs(got[i] - expected[i]) < 0.05f);
}

TEST_CASE("write a golden export", "[.golden]") {
  const char* const out = ::getenv("LEVERET_GOLDEN_OUT");
  REQUIRE(out != nullptr);
  export_model(golden_path("model-v1.lvt"), out, golden_options());
}

}  // namespace
}  // namespace leveret::modelfile
