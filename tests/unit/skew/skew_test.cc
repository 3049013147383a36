// Lines that are not like those that were learned are told; those that are, are not.
#include "skew/skew.h"

#include <fmt/format.h>

#include <functional>

#include "train/train_run.h"

namespace leveret::skew {
namespace {

using train::TrainRun;
using Found = SkewFinding::Kind;

/// Line i has namespaces user (of 500), hour (the same for 2,000 lines, then another) and page (of
/// 20, none in a third of the lines); `change` may make another line of it.
using Change = std::function<std::string(std::string line, std::size_t i)>;
std::string lines(std::size_t first, std::size_t count, const Change& change = {}) {
  std::string text;
  for (std::size_t i = first; i < first + count; ++i) {
    const std::size_t random = i * 2654435761u % 1000003;
    std::string line =
        fmt::format("{} |user u{} |hour h{}", random % 5 == 0 ? 1 : -1, random % 500, i / 2000);
    if (random % 3 != 0) line += fmt::format(" |page p{}", random % 20);
    text += (change ? change(line, i) : line) + "\n";
  }
  return text;
}

std::string replaced(std::string line, const std::string& what, const std::string& by) {
  const std::size_t at = line.find(what);
  return at == std::string::npos ? line : line.replace(at, what.size(), by);
}

/// A model of 6,000 such lines, and a parser as prediction has it.
struct House {
  explicit House(std::uint32_t ffm_k = 0) : run(spec(ffm_k)) {
    run.learn(lines(0, 6000));
    run.model.features().close_names(names);
  }
  static spec::Spec spec(std::uint32_t ffm_k) {
    spec::Spec spec;
    spec.ffm_k = ffm_k;
    return spec;
  }
  SkewCounter counter() { return SkewCounter(run.shared(), names); }

  TrainRun run;
  text::NamespaceNames names;
};

void count(House& house, SkewCounter& counter, const std::string& text) {
  const text::ExampleChunk chunk = train::parse(house.names, text);
  counter.count(chunk, 0, chunk.examples.size());
}

TEST_CASE("lines like those that were learned are not told of") {
  for (const std::uint32_t ffm_k : {0, 4}) {
    House house(ffm_k);
    SkewCounter counter = house.counter();
    REQUIRE(counter.tells());
    count(house, counter, lines(6000, 5500));  // hours of their own
    counter.finish();
    CHECK(counter.take_findings().empty());
    const SkewCounts counts = counter.take_counts();
    CHECK(counts.lines == 5500);
    CHECK(counts.windows == 6);
    CHECK(counts.skewed_windows == 0);
    CHECK(counts.strange_namespaces == 0);
    CHECK(counts.features > 2 * counts.lines);
    CHECK(counts.unknown_features == counts.lines);  // the hour's
  }
}

TEST_CASE("a namespace of another name is one that is missing and one that is strange") {
  House house;
  SkewCounter counter = house.counter();
  count(house, counter, lines(4000, 2000, [](std::string line, std::size_t) {
          return replaced(line, "|user", "|usr");
        }));
  const std::vector<SkewFinding> found = counter.take_findings();
  REQUIRE(found.size() == 2);  // each once, not once a window
  CHECK(found[0].kind == Found::kStrange);
  CHECK(found[0].name == "usr");
  CHECK_FALSE(found[0].is_first_letter);
  CHECK(found[0].share == 1);
  CHECK(found[1].kind == Found::kMissing);
  CHECK(found[1].name == "user");
  CHECK(found[1].learned == 1);
  CHECK(to_text(found[1]) ==
        "only 0.0 % of 1000 lines have namespace user; 100.0 % of the learned examples had it");
  const SkewCounts counts = counter.take_counts();
  CHECK(counts.skewed_windows == 2);
  CHECK(counts.strange_namespaces == 2000);
  CHECK(counts.missing_namespaces > 2000);  // some lines lack a page, as they always did
}

TEST_CASE("values that are written otherwise are unknown features") {
  House house;
  SkewCounter counter = house.counter();
  count(house, counter, lines(4000, 1000, [](std::string line, std::size_t) {
          return replaced(line, "|page p", "|page P");
        }));
  std::vector<SkewFinding> found = counter.take_findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == Found::kUnknown);
  CHECK(found[0].name == "page");
  CHECK(found[0].share == 1);
  // All of them: once more, of all features.
  count(house, counter, lines(4000, 1000, [](std::string line, std::size_t) {
          return replaced(replaced(line, "|page p", "|page P"), "|user u", "|user U");
        }));
  found = counter.take_findings();
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "user");
  CHECK(found[1].name.empty());
}

TEST_CASE("what comes rarely is no skew, and the last window is judged by what it has") {
  House house;
  SkewCounter counter = house.counter();
  const auto some = [](std::size_t every) {
    return [every](std::string line, std::size_t i) {
      return i % every == 0 ? line + " |new x" : line;
    };
  };
  count(house, counter, lines(6000, 1000, some(200)));
  CHECK(counter.take_findings().empty());
  count(house, counter, lines(7000, SkewCounter::kLeast - 1, some(2)));
  counter.finish();
  CHECK(counter.take_findings().empty());
  count(house, counter, lines(8000, 1, some(2)));
  counter.finish();
  const std::vector<SkewFinding> found = counter.take_findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "new");
  CHECK(found[0].lines == SkewCounter::kLeast);
}

TEST_CASE("strangers with one first letter are told of as such") {
  House house;
  SkewCounter counter = house.counter();
  count(house, counter, lines(4000, 1000, [](std::string line, std::size_t i) {
          return line + fmt::format(" |new{} x", i);
        }));
  const std::vector<SkewFinding> found = counter.take_findings();
  REQUIRE(found.size() == 1);
  CHECK(found[0].is_first_letter);
  CHECK(found[0].name == "n");
}

TEST_CASE("the context's namespaces are the candidates', too") {
  House house;
  SkewCounter counter = house.counter();
  const text::ExampleChunk context = train::parse(house.names, " |user u1 |hour h2\n");
  const text::ExampleChunk chunk =
      train::parse(house.names, lines(0, 1000, [](std::string line, std::size_t) {
                     return line.substr(0, line.find('|')) + "|page p1";
                   }));
  counter.count(chunk, 0, 1000, &context);
  CHECK(counter.take_findings().empty());
  CHECK(counter.take_counts().missing_namespaces == 0);
  counter.count(chunk, 0, 1000);
  CHECK(counter.take_findings().size() == 2);
}

TEST_CASE("a model that does not know what it has learned tells nothing") {
  House house;
  house.run.model.sightings().set({0, 0, {}});
  SkewCounter counter = house.counter();
  CHECK_FALSE(counter.tells());
  count(house, counter, "1 |other x\n");
  counter.finish();
  CHECK(counter.take_counts().lines == 0);
}

}  // namespace
}  // namespace leveret::skew
