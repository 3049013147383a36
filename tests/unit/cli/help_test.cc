#include <catch2/catch.hpp>

#include "cli/help/near_misses.h"

namespace leveret::cli {
namespace {

TEST_CASE("What was probably meant") {
  const std::vector<std::string> known = {"--ffm_k", "--field", "--hidden", "--learning_rate",
                                          "--nn_learning_rate", "--l2"};
  CHECK(nearest("--ffmk", known) == "--ffm_k");
  CHECK(nearest("--feild", known) == "--field");
  CHECK(nearest("--hiden", known) == "--hidden");
  CHECK(nearest("--learning", known) == "--learning_rate");
  CHECK(nearest("--leraning_rate", known) == "--learning_rate");
  CHECK(nearest("--ln_learning_rate", known) == "--nn_learning_rate");
  CHECK(nearest("--l3", known) == "--l2");
  CHECK(nearest("--something_else", known).empty());
  CHECK(nearest("--", known).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest("x", {}).empty());
}

}  // namespace
}  // namespace leveret::cli
