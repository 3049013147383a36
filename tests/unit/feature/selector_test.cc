#include "feature/selector.h"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace leveret::feature {
namespace {

using List = std::vector<std::string>;

TEST_CASE("a selector is a full name, or a letter that is nobody's full name") {
  CHECK(selects("ad", "ad", true));
  CHECK(selects("ad", "ad", false));
  CHECK_FALSE(selects("ad", "ads", false));
  CHECK_FALSE(selects("ad", "a", false));
  CHECK(selects("a", "ad", false));
  CHECK_FALSE(selects("a", "ad", true));
  CHECK(selects("a", "a", true));
  CHECK_FALSE(selects("a", "bad", false));
  CHECK_FALSE(selects("a", "", false));
  CHECK(selects(":", "ad", false));
  CHECK(selects(":", "", false));
  CHECK(selects("", "", true));
  CHECK_FALSE(selects("", "a", false));
}

TEST_CASE("lists split at commas") {
  CHECK(split_list("a,bc,d") == List{"a", "bc", "d"});
  CHECK(split_list(",a,,b,") == List{"a", "b"});
  CHECK(split_list("").empty());
  CHECK(split_list(",").empty());
}

TEST_CASE("interactions are names with stars, or letters") {
  CHECK(parse_interaction("user*ad") == List{"user", "ad"});
  CHECK(parse_interaction("user*ad*hour") == List{"user", "ad", "hour"});
  CHECK(parse_interaction("ab") == List{"a", "b"});
  CHECK(parse_interaction("abc") == List{"a", "b", "c"});
  CHECK(parse_interaction("::") == List{":", ":"});
  CHECK(parse_interaction(":*:") == List{":", ":"});
}

TEST_CASE("what is no interaction is refused by its text") {
  const std::string text = GENERATE("a", "", "abcd", "a*", "*a", "a**b", "a*b*c*d", "*");
  try {
    parse_interaction(text);
    FAIL("accepted '" << text << "'");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()).find("interaction '" + text + "'") != std::string::npos);
  }
}

}  // namespace
}  // namespace leveret::feature
