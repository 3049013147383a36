#include "metrics/exposition.h"

#include <catch2/catch.hpp>
#include <limits>

namespace leveret::metrics {
namespace {

TEST_CASE("values of labels are escaped as Prometheus' text format wants it") {
  CHECK(labels({}).empty());
  CHECK(labels({{"a", "x"}, {"b", ""}}) == R"(a="x",b="")");
  CHECK(labels({{"file", "a\\b\"c\nd"}}) == R"(file="a\\b\"c\nd")");
}

TEST_CASE("metrics are told with their help and type, and numbers that are none are left out") {
  Exposition text;
  text.start("leveret_a", "gauge", "A.");
  text.value(labels({{"m", "1"}}), 0.5);
  text.value(labels({{"m", "2"}}), std::numeric_limits<double>::quiet_NaN());
  text.value("", std::uint64_t{7}, "_sum");
  text.one("leveret_b", "counter", "B.", std::uint64_t{18446744073709551615u});
  CHECK(text.text() ==
        "# HELP leveret_a A.\n# TYPE leveret_a gauge\nleveret_a{m=\"1\"} 0.5\nleveret_a_sum 7\n"
        "# HELP leveret_b B.\n# TYPE leveret_b counter\nleveret_b 18446744073709551615\n");
  Exposition labelled(labels({{"model", "m"}}));
  labelled.one("leveret_c", "gauge", "C.", 1.5);
  labelled.value(labels({{"x", "y"}}), std::uint64_t{2});
  CHECK(labelled.text() ==
        "# HELP leveret_c C.\n# TYPE leveret_c gauge\nleveret_c{model=\"m\"} 1.5\n"
        "leveret_c{model=\"m\",x=\"y\"} 2\n");
}

}  // namespace
}  // namespace leveret::metrics
