#include "store/first_keys.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

namespace leveret::store {
namespace {

std::vector<std::uint32_t> walked(std::uint64_t count) {
  FirstKeys walk(count);
  std::vector<std::uint32_t> keys(count);
  for (std::uint32_t& key : keys) key = walk.next();
  return keys;
}

/// By a list of them.
std::vector<std::uint32_t> sorted(std::uint64_t count) {
  std::vector<std::uint32_t> keys(count);
  std::iota(keys.begin(), keys.end(), 0u);
  std::ranges::sort(keys, {}, key_place);
  return keys;
}

TEST_CASE("the first keys are walked through in the order of a file") {
  for (std::uint64_t count = 0; count <= 400; ++count) {
    INFO(count);
    REQUIRE(walked(count) == sorted(count));
  }
  for (const std::uint64_t count : {4096u, 6765u, 10946u, 65535u, 65536u, 100003u}) {
    INFO(count);
    REQUIRE(walked(count) == sorted(count));
  }
}

TEST_CASE("of as many keys as can be none is out of order") {
  FirstKeys walk(FirstKeys::kMost);
  std::uint32_t last = walk.next();
  REQUIRE(last == 0);
  std::uint64_t wrong = 0;
  for (int i = 0; i < 1000000; ++i) {
    const std::uint32_t key = walk.next();
    wrong += key >= FirstKeys::kMost || mixed_value(key) <= mixed_value(last);
    last = key;
  }
  CHECK(wrong == 0);
  // As near to each other as keys in order are: a billionth of all values, or two.
  CHECK(mixed_value(last) > 900000);
  CHECK(mixed_value(last) < 2500000);
}

}  // namespace
}  // namespace leveret::store
