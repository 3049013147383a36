#include "train/input_position.h"

#include <catch2/catch.hpp>
#include <string>

#include "train_run.h"

namespace leveret::train {
namespace {

constexpr const char* kLines[] = {"1 |a x y:2 |b z", "-1 2.0 |a x", "1 |b z:0.5", "-1 |c |a x",
                                  "1 1.0 0.5 tag|a y"};

text::ExampleChunk chunk_of(text::NamespaceNames& names, std::size_t first, std::size_t end) {
  std::string text;
  for (std::size_t i = first; i < end; ++i) text += std::string(kLines[i]) + '\n';
  return parse(names, text);
}

InputPosition after(std::uint64_t examples, std::string checksum) {
  InputPosition position;
  position.examples = examples;
  position.checksum = std::move(checksum);
  return position;
}

std::string checksum_of(const std::string& text) {
  text::NamespaceNames names;
  const text::ExampleChunk chunk = parse(names, text);
  InputWalk walk({});
  walk.add(chunk, 0, chunk.examples.size());
  return walk.checksum();
}

TEST_CASE("a walk comes where another was, however the input is cut") {
  text::NamespaceNames names;
  const text::ExampleChunk all = chunk_of(names, 0, 5);
  InputWalk first({});
  CHECK(first.pass_over(all) == 0);
  first.add(all, 0, 3);
  CHECK(first.examples() == 3);
  for (std::size_t cut = 0; cut <= 5; ++cut) {
    INFO(cut);
    InputWalk walk(after(3, first.checksum()));
    text::NamespaceNames others;
    for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, cut}, {cut, 5}}) {
      const text::ExampleChunk chunk = chunk_of(others, begin, end);
      const std::size_t passed = walk.pass_over(chunk);
      CHECK(passed == std::min<std::size_t>(end, 3) - std::min<std::size_t>(begin, 3));
      // Lines behind which are all that was not passed over.
      const std::uint64_t behind = walk.line_behind(chunk, passed);
      if (walk.examples() < 3) {
        CHECK(behind >= chunk.lines());
      } else {
        CHECK(behind == passed);
      }
      walk.add(chunk, passed, chunk.examples.size() - passed);
    }
    CHECK_NOTHROW(walk.check_end());
    CHECK(walk.examples() == 5);
    CHECK(walk.checksum() == checksum_of("1 |a x y:2 |b z\n-1 2.0 |a x\n1 |b z:0.5\n-1 |c |a x\n"
                                         "1 1.0 0.5 tag|a y\n"));
  }
}

TEST_CASE("another input is seen where learning would go on, and a shorter one at its end") {
  text::NamespaceNames names;
  InputWalk other(after(2, checksum_of("1 |a x y:2 |b z\n-1 2.0 |a y\n")));
  CHECK_THROWS_WITH(other.pass_over(chunk_of(names, 0, 5)),
                    Catch::Contains("the first 2 examples are not those"));
  InputWalk shorter(after(6, "?"));
  CHECK(shorter.pass_over(chunk_of(names, 0, 5)) == 5);
  CHECK_THROWS_WITH(shorter.check_end(),
                    Catch::Contains("ends after 5 examples, and the checkpoint has learned 6"));
}

TEST_CASE("a checksum is of all that is learned from an example") {
  const std::string one = checksum_of("1 1.0 0.5 |a x y:2\n");
  CHECK(one == checksum_of("1  1 .5 tag|a x y:2.0\n"));
  for (const char* other : {"-1 1.0 0.5 |a x y:2\n", "1 2.0 0.5 |a x y:2\n", "1 1.0 0 |a x y:2\n",
                            "1 1.0 0.5 |b x y:2\n", "1 1.0 0.5 |a x y\n", "1 1.0 0.5 |a x z:2\n",
                            "1 1.0 0.5 |a x |a y:2\n", "1 1.0 0.5 |a y:2 x\n"}) {
    INFO(other);
    CHECK(one != checksum_of(other));
  }
}

}  // namespace
}  // namespace leveret::train
