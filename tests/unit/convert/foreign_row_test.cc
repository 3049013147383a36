#include "convert/foreign_row.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

using leveret::convert::foreign_row;

TEST_CASE("rows of other formats are told from VW text") {
  const auto is = [](const std::string& line, std::string_view format) {
    const char* found = foreign_row(line);
    return std::string_view(found ? found : "") == format;
  };
  std::string criteo = "0";
  for (int i = 0; i < 39; ++i) criteo += '\t';
  CHECK(is(criteo, "criteo"));
  CHECK(is(criteo + "\t", ""));
  CHECK(is("id,click,hour,C1", "avazu"));
  CHECK(is(std::string(23, ','), "avazu"));
  CHECK(is("label,a,b", "csv"));
  CHECK(is("1 3:0.5 7:1", "libffm"));
  CHECK(is("1 0:3:0.5 1:7:1", "libffm"));
  CHECK(is("1", ""));
  CHECK(is("", ""));
  CHECK(is("yes no:1", ""));
  CHECK(is("1 :3", ""));
  CHECK(is("1 |a 3:0.5,7:1", ""));
}
