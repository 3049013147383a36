/// Lines that are refused: each with its reason and its column, and nothing left behind.
#include <cstring>

#include "parse_text.h"

namespace leveret::text {
namespace {

/// Parses `line` between two good ones and checks that only they are there.
BadLine bad(std::string_view line, ParserOptions options = {}) {
  INFO(line);
  const std::string good = "1 |n a |m b:2\n";
  const Parsed p(good + std::string(line) + "\n" + good, options);
  REQUIRE(p.chunk.bad.size() == 1);
  CHECK(p.chunk.examples.size() == 2);
  CHECK(p.chunk.features.size() == 4);
  CHECK(p.chunk.runs.size() == 4);
  CHECK(p.chunk.names.size() == (options.keep_names ? 4 : 0));
  CHECK(p.chunk.runs[2].begin == 2);
  CHECK(p.names.size() == 2);
  CHECK(p.chunk.examples[1].line == 3);
  CHECK(p.chunk.bad[0].line == 2);
  CHECK(p.chunk.view(p.chunk.bad[0].text_begin, p.chunk.bad[0].text_size) == line);
  return p.chunk.bad[0];
}

void check_bad(std::string_view line, std::uint32_t column, std::string_view what) {
  INFO(line);
  for (bool keep_names : {false, true}) {
    const BadLine b = bad(line, {.keep_names = keep_names});
    CHECK(b.column == column);
    CHECK(b.what == what);
  }
}

TEST_CASE("the label is not a number", "[bad]") {
  check_bad("x |n a", 1, "label is not a number");
  check_bad("  yes |q a", 3, "label is not a number");
  check_bad("nan |n a", 1, "label is not a number");
  check_bad("inf |n a", 1, "label is not a number");
  check_bad("1e39 |n a", 1, "label is not a number");
  check_bad("1,0 |n a", 1, "label is not a number");
  check_bad("garbage", 1, "label is not a number");
  check_bad("save_model.bin", 1, "label is not a number");
}

TEST_CASE("the label is a number of the wrong kind", "[bad]") {
  check_bad("2 |n a", 1, "label is not -1, 0 or 1");
  check_bad("0.5 |n a", 1, "label is not -1, 0 or 1");
  check_bad("-1.0000001 |n a", 1, "label is not -1, 0 or 1");
}

TEST_CASE("importance", "[bad]") {
  check_bad("1 -1 |n a", 3, "importance is negative");
  check_bad("1 -1e-9 |n a", 3, "importance is negative");
  check_bad("1 nan |n a", 3, "importance is not a number");
  check_bad("1 inf |n a", 3, "importance is not a number");
  check_bad("1 1e39 |n a", 3, "importance is not a number");
  check_bad("1 1.1e12 |n a", 3, "importance is above 1e12");
  check_bad("1 3e38 0.5 'tag |n a", 3, "importance is above 1e12");
  check_bad("1 two |n a", 3, "importance is not a number");
  check_bad("1 'mid 2 |n a", 3, "importance is not a number");
}

TEST_CASE("initial prediction", "[bad]") {
  check_bad("1 1 x |n a", 5, "initial prediction is not a number");
  check_bad("1 1 -inf 'tag|n a", 5, "initial prediction is not a number");
}

TEST_CASE("more than three tokens", "[bad]") {
  check_bad("1 1 0 0 |n a", 7, "more than three tokens before the tag");
  check_bad("1 1 0 0 tag|n a", 7, "more than three tokens before the tag");
  check_bad("1 1 0 x 'tag |n a", 7, "more than three tokens before the tag");
}

TEST_CASE("malformed values", "[bad]") {
  for (const char* value : {"1b", "1:2", "-", ".", "+", "-.", "0x10", "1e", "1e+", "--1", "1.2.3",
                            "1,5", "1:", ".net", "-red", "1b|m x"}) {
    check_bad("1 |n good a:" + std::string(value), 13, "value is not a number");
    check_bad("1 |n good a:" + std::string(value) + " c |m d", 13, "value is not a number");
  }
  check_bad("1 |n :1x", 7, "value is not a number");
  check_bad("1 |n a:nan:1", 8, "value is not a number");
}

TEST_CASE("values that are not finite", "[bad]") {
  for (const char* value : {"nan", "NaN", "-nan", "inf", "-inf", "+Infinity", "nan(7)"}) {
    check_bad("1 |n a:" + std::string(value), 8, "value is NaN or infinite");
    check_bad("1 |n a:" + std::string(value) + " b |m c", 8, "value is NaN or infinite");
  }
  check_bad("1 |n a:1e39", 8, "value is too large for a float");
  check_bad("1 |n a:-1e999", 8, "value is too large for a float");
  check_bad("1 |n:1e30 a b:1e30", 15, "value is too large for a float");
}

TEST_CASE("malformed namespaces", "[bad]") {
  check_bad("1 |:3 a", 4, "namespace weight without a namespace name");
  check_bad("1 |n:x a", 6, "namespace weight is not a number");
  check_bad("1 |n:x", 6, "namespace weight is not a number");
  check_bad("1 |n: a", 7, "namespace weight is not a number");
  check_bad("1 |n: ", 7, "namespace weight is not a number");
  check_bad("1 |n: |m a", 7, "namespace weight is not a number");
  check_bad("1 |n:\t2 a", 6, "namespace weight is not a number");
  check_bad("1 |n: \t2 a", 7, "namespace weight is not a number");
  check_bad("1 |n:", 6, "namespace weight is not a number");
  check_bad("1 |n:1:2 a", 6, "namespace weight is not a number");
  check_bad("1 |n:2x a", 6, "namespace weight is not a number");
  check_bad("1 |n:nan a", 6, "namespace weight is NaN or infinite");
  check_bad("1 |n:1e39 a", 6, "namespace weight is too large for a float");
}

TEST_CASE("a fault behind many good features of new namespaces leaves nothing", "[bad]") {
  std::string line = "1";
  for (int i = 0; i < 500; ++i) line += " |new" + std::to_string(i) + " a b:2 c:red";
  check_bad(line + " |n x:1y", static_cast<std::uint32_t>(line.size() + 7),
            "value is not a number");
}

TEST_CASE("columns count the bytes of the line as it came", "[bad]") {
  check_bad("\xEF\xBB\xBFx |n a", 4, "label is not a number");
  check_bad("1\t|\xC3\xA4 a:1x", 9, "value is not a number");
}

TEST_CASE("the text of a bad line is without its line end", "[bad]") {
  const Parsed p("x |n a\r\ny |n");
  REQUIRE(p.chunk.bad.size() == 2);
  CHECK(p.chunk.view(p.chunk.bad[0].text_begin, p.chunk.bad[0].text_size) == "x |n a");
  CHECK(p.chunk.view(p.chunk.bad[1].text_begin, p.chunk.bad[1].text_size) == "y |n");
  CHECK(p.chunk.bad[1].line == 2);
}

TEST_CASE("a line longer than the limit", "[bad]") {
  const ParserOptions options{.max_line = 20};
  const BadLine b = bad("1 |n aaaa bbbb cccc dddd", options);
  CHECK(b.what == std::string_view("line is longer than the limit"));
  CHECK(b.column == 21);
  CHECK(Parsed("1 |n aaaa bbbb cccc \n", options).only().label == 1);
}

TEST_CASE("a line with one namespace too many", "[bad]") {
  NamespaceNames names;
  for (std::uint32_t i = 0; i + 1 < NamespaceNames::kMax; ++i) names.intern(std::to_string(i));
  ExampleChunk chunk;
  chunk.bytes = "1 |last a\n1 |more a\n1 |last a |0 b\n";
  Parser(names, {}).parse(chunk);
  CHECK(chunk.examples.size() == 2);
  CHECK(chunk.features.size() == 3);
  REQUIRE(chunk.bad.size() == 1);
  CHECK(chunk.bad[0].what == std::string_view("too many different namespaces"));
  CHECK(chunk.bad[0].column == 4);
  CHECK(names.size() == NamespaceNames::kMax);
}

TEST_CASE("more than 2^20 features", "[bad]") {
  const auto features = [](std::size_t count, const std::string& before) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += before + "f";
    return text;
  };
  const std::string full = features(kMaxFeatures, " ");
  for (const bool keep_names : {false, true}) {
    const Parsed p("1 |n a\n1 |n" + full + "\n1 |n a\n", {.keep_names = keep_names});
    CHECK(p.chunk.bad.empty());
    CHECK(p.chunk.features.size() == kMaxFeatures + 2);
  }
  // Of a namespace, of many, with values, and those of 0 do not count.
  check_bad("1 |n" + full + " x", 1, kTooManyFeatures);
  check_bad("1" + features(kMaxFeatures / 2, " |n a |m ") + " |n a", 1, kTooManyFeatures);
  check_bad("1" + features(kMaxFeatures + 1, " |n "), 1, kTooManyFeatures);
  check_bad("1 |n" + features(kMaxFeatures + 1, " :2 "), 1, kTooManyFeatures);
  CHECK(Parsed("1 |n" + full + " x:0\n").chunk.bad.empty());
}

TEST_CASE("the features of a long line do not fill the memory", "[bad]") {
  std::string line = "1 |n";
  for (int i = 0; i < 16 << 20; ++i) line += " a";
  const Parsed one(line + "\n1 |n a\n");
  CHECK(one.chunk.bad.size() == 1);
  CHECK(one.chunk.examples.size() == 1);
  CHECK(one.chunk.features.capacity() < 4 * std::size_t{kMaxFeatures});
}

}  // namespace
}  // namespace leveret::text
