#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <random>

#include "helpers.h"
#include "stream/bad_lines.h"

using namespace leveret;
using namespace leveret::stream;
using namespace leveret::stream::testing;
using Catch::Matchers::Contains;
using Kind = BadLinePolicy::Kind;

namespace {

/// A chunk of lines from `first` on: '+' an example, 'x' a bad line, ' ' a blank one.
text::ExampleChunk chunk_of(std::string_view kinds, std::uint64_t first = 1) {
  text::ExampleChunk chunk;
  chunk.first_line = first;
  for (const char kind : kinds) {
    const auto begin = static_cast<std::uint32_t>(chunk.bytes.size());
    const std::string line = kind == 'x' ? "bad" + std::to_string(first) : "1 |a b";
    chunk.bytes += line + "\n";
    if (kind == '+') {
      text::Example example{};
      example.label = example.importance = 1;
      example.line = first;
      chunk.examples.push_back(example);
    }
    if (kind == 'x') {
      const auto size = static_cast<std::uint32_t>(line.size());
      chunk.bad.push_back({first, begin, size, 2, "label is not a number"});
    }
    if (kind == ' ') ++chunk.blank_lines;
    ++first;
  }
  return chunk;
}

/// Adds the lines in chunks of `step`; the number of lines after which it gave up, or 0.
std::uint64_t gives_up_at(BadLinePolicy policy, const std::string& kinds, std::size_t step) {
  BadLineTally tally({.policy = policy});
  try {
    for (std::size_t at = 0; at < kinds.size(); at += step) {
      tally.add(chunk_of(std::string_view(kinds).substr(at, step), at + 1), "f");
    }
  } catch (const std::runtime_error&) {
    return tally.lines();
  }
  return 0;
}

}  // namespace

TEST_CASE("the text of --bad_lines") {
  CHECK(parse_bad_line_policy("fail").kind == Kind::kFail);
  CHECK(parse_bad_line_policy("skip").kind == Kind::kSkip);
  CHECK(parse_bad_line_policy("max=7").kind == Kind::kMax);
  CHECK(parse_bad_line_policy("max=7").max == 7);
  CHECK(parse_bad_line_policy("max=0").max == 0);
  for (const char* text : {"", "Fail", "max", "max=", "max=-1", "max=1x", "max= 1", "skip ",
                           "max=99999999999999999999"}) {
    CHECK_THROWS_WITH(parse_bad_line_policy(text), Contains("fail, skip or max=N"));
  }
}

TEST_CASE("each policy gives up at its line, however the lines arrive") {
  const std::string ten_bad(10, 'x');
  const std::string mixed = std::string(1189, '+') + ten_bad + " x" + "++x" + std::string(96, '+') +
                            "x" + std::string(500, '+');
  for (const std::size_t step : {1, 2, 7, 100, 100000}) {
    CHECK(gives_up_at({}, ten_bad, step) == 0);
    CHECK(gives_up_at({}, ten_bad + "x", step) == 11);
    CHECK(gives_up_at({}, ten_bad + "+x++", step) == 12);
    // 10 bad of 1199, 11 of 1200 (allowed 12), 12 of 1203, 13 of 1300 (allowed 13).
    CHECK(gives_up_at({}, mixed, step) == 0);
    CHECK(gives_up_at({}, mixed.substr(1), step) == 1299);
    CHECK(gives_up_at({Kind::kFail, 0}, "+ ++x+", step) == 4);
    CHECK(gives_up_at({Kind::kFail, 0}, "+ ++", step) == 0);
    CHECK(gives_up_at({Kind::kMax, 2}, "+x+x+", step) == 0);
    CHECK(gives_up_at({Kind::kMax, 2}, "+x+x+x+", step) == 6);
    CHECK(gives_up_at({Kind::kSkip, 0}, std::string(5000, 'x'), step) == 0);
  }
}

TEST_CASE("giving up says what, where and what to do") {
  BadLineTally tally({.policy = {Kind::kFail, 0}});
  CHECK_THROWS_WITH(tally.add(chunk_of("++x+", 5), "data.vw"),
                    Contains("1 of 3 lines is bad") && Contains("data.vw:7:2: label is not") &&
                        Contains("--bad_lines skip") && Contains("bad7"));
}

TEST_CASE("lines that are all bad are an error, whatever is allowed") {
  const auto end = [](std::string_view kinds, bool cached = false) {
    BadLineTally tally({.policy = {Kind::kSkip, 0},
                        .format_of = [](std::string_view) -> const char* { return "csv"; }});
    if (cached) tally.add_cached(0, 2);
    if (!cached) tally.add(chunk_of(kinds), "f");
    tally.finish();
  };
  CHECK_THROWS_WITH(end("x"), Contains("the only line is bad") && Contains("leveret convert csv"));
  CHECK_THROWS_WITH(end(" xx "), Contains("all 2 lines are bad"));
  CHECK_THROWS_WITH(end("", true), Contains("all 2 lines are bad"));
  CHECK_NOTHROW(end("x+"));
  CHECK_NOTHROW(end("  "));
}

TEST_CASE("by default no more than half of all lines may be bad, in whatever order they come") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::string kinds(1 + random() % 20, '+');
    kinds += std::string(random() % 14, 'x') + std::string(random() % 3, ' ');
    std::shuffle(kinds.begin(), kinds.end(), random);
    const auto bad = std::count(kinds.begin(), kinds.end(), 'x');
    const auto good = std::count(kinds.begin(), kinds.end(), '+');
    const std::size_t step = 1 + random() % 9;
    const auto ends_well = [&](BadLinePolicy policy, bool cached) {
      BadLineTally tally({.policy = policy});
      try {
        if (cached) tally.add_cached(good, bad);
        for (std::size_t at = 0; at < kinds.size() && !cached; at += step) {
          tally.add(chunk_of(std::string_view(kinds).substr(at, step), at + 1), "f");
        }
      } catch (const std::runtime_error&) {
        return false;
      }
      if (policy.kind == Kind::kShare && bad > good) {
        CHECK_THROWS_WITH(tally.finish(), Contains(std::to_string(bad) + " of " +
                                                   std::to_string(bad + good) + " lines are bad") &&
                                              Contains("--bad_lines skip"));
        return false;
      }
      CHECK_NOTHROW(tally.finish());
      return true;
    };
    INFO(kinds);
    for (const bool cached : {false, true}) {
      CHECK(ends_well({}, cached) == (bad <= 10 && bad <= good));
      CHECK(ends_well({Kind::kSkip, 0}, cached));
      CHECK(ends_well({Kind::kMax, 13}, cached));
      CHECK(ends_well({Kind::kFail, 0}, cached) == (bad == 0));
    }
  }
}

TEST_CASE("the first ten are reported in full, then a count at most once a second") {
  std::vector<std::string> reports;
  std::chrono::steady_clock::time_point clock{};
  BadLineTally tally({.policy = {Kind::kSkip, 0},
                      .report = [&](const std::string& text) { reports.push_back(text); },
                      .now = [&] { return clock += std::chrono::milliseconds(100); }});
  tally.add(chunk_of("+x+xxxxxxxxx+"), "f");
  REQUIRE(reports.size() == 10);
  CHECK(reports[0] == "f:2:2: label is not a number\n    bad2\n     ^");
  CHECK_THAT(reports[9], Contains("f:12:2:"));
  tally.add(chunk_of("x", 14), "f");  // the 11th: the first count comes at once
  REQUIRE(reports.size() == 11);
  CHECK(reports[10] == "11 bad lines of 14 so far");
  for (std::uint64_t i = 0; i < 25; ++i) tally.add(chunk_of("x", 15 + i), "f");
  REQUIRE(reports.size() == 13);  // 25 tenths of a second later
  CHECK(reports[12] == "31 bad lines of 34 so far");
  tally.finish();
  REQUIRE(reports.size() == 14);
  CHECK(reports[13] == "36 bad lines of 39 so far");
  tally.finish();
  CHECK(reports.size() == 14);
  CHECK(tally.good() == 3);
  CHECK(tally.bad() == 36);
}

TEST_CASE("the text around the fault is cut and escaped") {
  text::ExampleChunk chunk;
  chunk.bytes = std::string(100, 'a') + "\x1b[2J\t\xff" + std::string(100, 'b');
  const auto size = static_cast<std::uint32_t>(chunk.bytes.size());
  const auto format = [&](std::uint32_t column) {
    return format_bad_line(chunk, {9, 0, size, column, "oops"}, "f");
  };
  CHECK(format(101) == "f:9:101: oops\n    ..." + std::string(40, 'a') + "\\x1b[2J\\t\\xff" +
                           std::string(34, 'b') + "...\n    " + std::string(43, ' ') + "^");
  CHECK(format(1) == "f:9:1: oops\n    " + std::string(40, 'a') + "...\n    ^");
  // A column past the end (a missing part) points behind the line; any other is harmless.
  CHECK_THAT(format(size + 1), Contains("b\n") && Contains("^"));
  CHECK_THAT(format(4000000000u), Contains("^"));
  CHECK_THAT(format(0), Contains("^"));
}

TEST_CASE("quarantined lines are kept verbatim, appended") {
  const TempDir dir;
  const std::string path = dir.write("q", "before\n");
  {
    BadLineTally tally({.policy = {Kind::kMax, 3}, .quarantine = path});
    tally.add(chunk_of("+x+x"), "f");
    CHECK(contents(path) == "before\nbad2\nbad4\n");  // there at once
    text::ExampleChunk odd;
    odd.bytes = std::string("\0\r|\xff", 4);
    odd.bad.push_back({1, 0, 4, 1, "odd"});
    tally.add(odd, "f");
    CHECK_THROWS(tally.add(chunk_of("+x+x", 5), "f"));
  }
  CHECK(contents(path) == "before\nbad2\nbad4\n" + std::string("\0\r|\xff\n", 5) + "bad6\n");
}

TEST_CASE("a quarantine that cannot be written is an error") {
  const TempDir dir;
  CHECK_THROWS_WITH(BadLineTally({.quarantine = dir.path("none/q")}), Contains("--quarantine"));
  BadLineTally full({.quarantine = "/dev/full"});
  CHECK_THROWS_WITH(full.add(chunk_of("x"), "f"), Contains("No space left"));
}

TEST_CASE("bad lines that a cache left out count too") {
  BadLineTally tally({});
  tally.add_cached(2000, 20);
  CHECK(tally.lines() == 2020);
  CHECK_THROWS_WITH(tally.add_cached(0, 1), Contains("when the cache was made"));
}
