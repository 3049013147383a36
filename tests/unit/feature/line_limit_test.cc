// What a line would become is known before it is made.
#include "feature/line_limit.h"

#include <random>

#include "feature/selector.h"
#include "mapped.h"

namespace leveret::feature {
namespace {

std::string random_line(std::mt19937& random) {
  std::string line = "1";
  for (int n = static_cast<int>(random() % 6); n >= 0; --n) {
    line += std::string(" |") + static_cast<char>('a' + random() % 3);
    if (random() % 2 == 0) line += static_cast<char>('a' + random() % 2);
    for (int f = static_cast<int>(random() % 4); f > 0; --f) {
      line += " f" + std::to_string(random() % 9);
    }
  }
  return line + "\n";
}

FeatureOptions random_options(std::mt19937& random) {
  FeatureOptions options;
  static constexpr const char* kSelectors[] = {"a", "b", "c", "aa", "ab", "cb", ":"};
  for (int n = static_cast<int>(random() % 3); n >= 0; --n) {
    std::vector<std::string> interaction(2 + random() % 2);
    for (std::string& selector : interaction) selector = kSelectors[random() % 7];
    options.interactions.push_back(interaction);
  }
  if (random() % 4 == 0) options.ignore = {"b"};
  if (random() % 4 == 0) options.transforms = parse_transforms("w=Combine(a,c) x=Weight(w)(2)");
  return options;
}

TEST_CASE("features are counted as they are made") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const FeatureOptions options = random_options(random);
    std::string lines;
    for (int i = 0; i < 8; ++i) lines += random_line(random);
    INFO("seed " << seed << "\n" << lines);
    const Mapped m(lines, options);
    FeatureMap counting(options, {});
    FeatureCounts counts;
    for (std::size_t i = 0; i < m.chunk.examples.size(); ++i) {
      counting.meet_for_count(m.names, m.chunk, i);
      const std::size_t made = m.batch.linear_end(i) - m.batch.linear_begin(i);
      if (counting.count(m.chunk, m.chunk.examples[i], counts) != static_cast<double>(made)) {
        FAIL("line " << i + 1 << " is " << made << " features");
      }
    }
  }
}

std::string features(const std::string& space, std::size_t count) {
  std::string text = " |" + space;
  for (std::size_t i = 0; i < count; ++i) text += " f" + std::to_string(i);
  return text;
}

/// Which lines of the text are bad.
std::vector<std::uint64_t> bad_lines(const FeatureOptions& options, const std::string& lines) {
  text::NamespaceNames names;
  text::ExampleChunk chunk;
  chunk.bytes = lines;
  chunk.first_line = 7;
  text::Parser(names, {.limit = LineLimit(options, {})}).parse(chunk);
  std::vector<std::uint64_t> bad;
  for (const text::BadLine& line : chunk.bad) {
    bad.push_back(line.line - 6);
    CHECK(line.what == std::string("line has more than 1048576 features"));
    CHECK(chunk.view(line.text_begin, line.text_size).starts_with("1 |"));
    CHECK(chunk.view(line.text_begin, line.text_size).find('\n') == std::string_view::npos);
  }
  CHECK(chunk.lines() == static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n')));
  return bad;
}

using Numbers = std::vector<std::uint64_t>;

TEST_CASE("lines that would fill the memory are bad, those around them are not") {
  const std::string good = "1 |a x |b y\n";
  const std::string large = "1" + features("a", 1100) + features("b", 1000) + "\n";
  const std::string huge = "1" + features("a", 10000) + features("b", 10000) + "\n";
  const std::string lines = good + large + "\n" + good + huge + "x\n" + good + large;
  const auto interactions = [](std::vector<std::vector<std::string>> list) {
    FeatureOptions options;
    options.interactions = std::move(list);
    return options;
  };
  CHECK(bad_lines(interactions({{"a", "b"}}), good + large + "\n" + good + huge + good + large) ==
        Numbers{2, 5, 7});
  CHECK(bad_lines(interactions({{":", ":"}}), good + large + huge) == Numbers{2, 3});
  CHECK(bad_lines(interactions({{"a", "c"}}), good + large + huge) == Numbers{});
  CHECK(bad_lines(interactions({{"a", "a", "a"}}),
                  "1" + features("a", 200) + "\n1" + features("a", 100) + "\n") == Numbers{1});
  FeatureOptions fields;
  for (int i = 0; i < 200; ++i) fields.fields.push_back({"a", "f" + std::to_string(i)});
  CHECK(LineLimit::needed(fields));
  CHECK(bad_lines(fields, good + huge) == Numbers{2});
  FeatureOptions derived;
  std::string text;
  for (int i = 0; i < 20; ++i) text += " d" + std::to_string(i) + "=Combine(a,b)";
  derived.transforms = parse_transforms(text);
  CHECK(bad_lines(derived, good + huge) == Numbers{2});
}

TEST_CASE("lines of most models need no counting") {
  FeatureOptions options;
  CHECK_FALSE(LineLimit::needed(options));
  options.fields = {{"a", "b"}, {"cd"}, {"ce"}};
  CHECK_FALSE(LineLimit::needed(options));
  options.fields = {{"a", "b"}, {"cd"}, {"c"}};
  CHECK(LineLimit::needed(options));
}

}  // namespace
}  // namespace leveret::feature
