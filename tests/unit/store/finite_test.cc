#include "store/finite.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <vector>

namespace leveret::store {
namespace {

using Limits = std::numeric_limits<float>;

TEST_CASE("non-finite values are counted, wherever they stand") {
  const std::vector<float> bad = {Limits::quiet_NaN(), -Limits::quiet_NaN(),
                                  Limits::signaling_NaN(), Limits::infinity(), -Limits::infinity()};
  std::mt19937 random(3);
  for (const std::size_t n : {0, 1, 15, 16, 17, 1000, 65535, 65536, 65537, 200000}) {
    std::vector<float> values(n, Limits::max());
    for (std::size_t i = 0; i < n; i += 3) values[i] = -Limits::denorm_min();
    REQUIRE(count_non_finite(values) == 0);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (random() % 7 != 0) continue;
      values[i] = bad[random() % bad.size()];
      ++expected;
    }
    REQUIRE(count_non_finite(values) == expected);
  }
}

}  // namespace
}  // namespace leveret::store
