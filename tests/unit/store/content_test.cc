#include "store/content.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "files/temp_folder.h"

namespace leveret::store {
namespace {

using namespace std::string_literals;

Content of_bytes(const std::string& bytes) {
  const files::TempFolder folder;
  std::ofstream(folder / "file", std::ios::binary) << bytes;
  return content_of(folder / "file");
}

std::string lines(const std::string& line, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += line;
  return all;
}

TEST_CASE("a file is told by its first bytes") {
  CHECK(of_bytes("") == Content::kNothing);
  CHECK(of_bytes("\x1f\x8b\b") == Content::kPacked);
  CHECK(of_bytes("\x28\xb5\x2f\xfd") == Content::kPacked);
  CHECK(of_bytes("LVRTCACH\2\0"s) == Content::kCache);
  CHECK(of_bytes("\x89LVP\r\n\x1a\n") == Content::kPatch);
  CHECK(of_bytes("\x89LVT\r\n\x1a\n and no more") == Content::kModel);
  CHECK(of_bytes("a\0b"s) == Content::kOther);
  CHECK(of_bytes("\x7f"
                 "ELF\1\1") == Content::kOther);
  CHECK(of_bytes("{\"window\":1}\n") == Content::kJson);
  CHECK(of_bytes("1 |a b\n") == Content::kExamples);
  CHECK(of_bytes("0 'tag |a b") == Content::kExamples);
}

TEST_CASE("predictions are lines of a number, and nothing else is") {
  for (const char* const text : {"0.5\n", "0.25 tag\n1e-05\n", "-3.000001\r\n", "nan\n", "1\n\n0\n",
                                 "\n", ".5", "1 caf\xc3\xa9\n"}) {
    INFO(text);
    CHECK(of_bytes(text) == Content::kNumbers);
  }
  for (const char* const text :
       {"1,2\n", "1 2 3\n", "1 3:1 4:1\n", "x\n", "0.5\nlabel\n", "5x\n", "1\t2\n", "0x10\n"}) {
    INFO(text);
    CHECK(of_bytes(text) == Content::kText);
  }
  // Of a long file the start is looked at, where the last line is cut.
  CHECK(of_bytes(lines("0.123456\n", 20000)) == Content::kNumbers);
  CHECK(of_bytes(lines("0.1234567 tag\n", 20000)) == Content::kNumbers);
  CHECK(of_bytes(lines("words\n", 20000)) == Content::kText);
  CHECK(of_bytes(std::string(100000, 'x')) == Content::kText);
}

TEST_CASE("what keeps no bytes, and what is not there, may be written to") {
  const files::TempFolder folder;
  CHECK(content_of(folder / "nowhere") == Content::kNothing);
  CHECK(content_of("/dev/null") == Content::kNothing);
  CHECK(content_of(folder / "") == Content::kNothing);
  CHECK(may_replace(Content::kModel, Content::kNothing));
  CHECK(may_replace(Content::kModel, Content::kNumbers));
  CHECK(may_replace(Content::kExport, Content::kExport));
  CHECK_FALSE(may_replace(Content::kExport, Content::kModel));
  CHECK_FALSE(may_replace(Content::kNumbers, Content::kExamples));
}

}  // namespace
}  // namespace leveret::store
