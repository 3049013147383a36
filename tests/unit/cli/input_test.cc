#include "cli/input.h"

#include <catch2/catch.hpp>

namespace leveret::cli {
namespace {

TEST_CASE("the parser refuses no line that --max_line lets through") {
  InputOptions input;
  input.max_line = std::uint64_t{1} << 31;
  spec::Spec spec;
  spec.hash = text::HashMode::kAll;
  spec.hash_seed = 7;
  const text::ParserOptions options = parser_options(spec, input);
  CHECK(options.max_line == std::uint32_t{1} << 31);
  CHECK(options.hash == text::HashMode::kAll);
  CHECK(options.hash_seed == 7);
}

}  // namespace
}  // namespace leveret::cli
