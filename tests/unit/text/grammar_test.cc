/// Each rule of man/leveret-text.5, a test. Hashes of the first two cases were printed by VW 9.11.
#include <cmath>

#include "parse_text.h"
#include "text/hash.h"

namespace leveret::text {
namespace {

std::uint32_t h(std::string_view name, std::uint32_t seed) {
  return hash_name(name, seed, HashMode::kStrings);
}

TEST_CASE("VW's own hashes, seed 0", "[parser]") {
  CHECK(Parsed("1 |n a").hashes() == Hashes{55346});
  CHECK(Parsed("1 |n a:b").hashes() == Hashes{19794});
  CHECK(Parsed("1 | a").hashes() == Hashes{92594});
  CHECK(Parsed("1 |n 12").hashes() == Hashes{121016});
  CHECK(Parsed("1 |n :3").hashes() == Hashes{121004});
  CHECK(Parsed("1 |12 5").hashes() == Hashes{17});
  const Parsed pair("1 |a x |b y");
  REQUIRE(pair.chunk.features.size() == 2);
  CHECK((hash_pair(pair.chunk.features[0].hash, pair.chunk.features[1].hash) & 0x3ffff) == 167114);
}

TEST_CASE("VW's own hashes, seed 5", "[parser]") {
  const ParserOptions options{.hash_seed = 5};
  CHECK(Parsed("1 |a x", options).hashes() == Hashes{87490});
  CHECK(Parsed("1 | q", options).hashes() == Hashes{28263});
}

TEST_CASE("hash all hashes digits like any other name", "[parser]") {
  const ParserOptions options{.hash = HashMode::kAll};
  const std::uint32_t nh = murmur3("12", 0);
  CHECK(Parsed("1 |12 5", options).hashes(31) == Hashes{murmur3("5", nh) & 0x7fffffff});
  CHECK(Parsed("1 |12 x:_7", options).hashes(31) ==
        Hashes{murmur3("_7", murmur3("x", nh)) & 0x7fffffff});
  // Still no hash for the default namespace.
  CHECK(Parsed("1 | a", options).chunk.features[0].hash == murmur3("a", 0));
}

TEST_CASE("label values", "[parser]") {
  for (const char* text : {"1", "+1", "1.0", "1e0", "1."}) {
    CHECK(Parsed(std::string(text) + " |n a").only().label == 1);
  }
  for (const char* text : {"-1", "-1.0", "0", "0.0", "-0"}) {
    CHECK(Parsed(std::string(text) + " |n a").only().label == -1);
  }
  CHECK(Parsed("|n a").only().label == 0);
  CHECK(Parsed("   |n a").only().label == 0);
}

TEST_CASE("importance and initial prediction", "[parser]") {
  const Parsed plain("1 |n a");
  CHECK(plain.only().importance == 1);
  CHECK(plain.only().initial == 0);
  const Parsed full("-1 2.5 -0.25 |n a");
  CHECK(full.only().label == -1);
  CHECK(full.only().importance == 2.5f);
  CHECK(full.only().initial == -0.25f);
  CHECK(Parsed("1 0 |n a").only().importance == 0);
  CHECK(Parsed("1 1e12 |n a").only().importance == 1e12f);
  CHECK_FALSE(std::signbit(Parsed("1 -0 |n a").only().importance));
}

TEST_CASE("the last token is the tag if it touches the bar", "[parser]") {
  const Parsed touching("1 |n a\n1 2 tag|n a");
  CHECK(touching.chunk.examples[1].importance == 2);
  CHECK(touching.chunk.view(touching.chunk.examples[1].tag_begin,
                            touching.chunk.examples[1].tag_size) == "tag");
  const Parsed number("1|n a");
  CHECK(number.tag() == "1");
  CHECK(number.only().label == 0);
  CHECK(Parsed("1 1 0.5 t|n a").tag() == "t");
}

TEST_CASE("the last token is the tag if it begins with an apostrophe", "[parser]") {
  CHECK(Parsed("1 'tag |n a").tag() == "tag");
  CHECK(Parsed("1 'tag|n a").tag() == "tag");
  CHECK(Parsed("1 ''tag |n a").tag() == "'tag");
  CHECK(Parsed("'tag |n a").tag() == "tag");
  CHECK(Parsed("1 2 3 'tag  |n a").tag() == "tag");
  CHECK(Parsed("1 ' |n a").tag().empty());
  CHECK(Parsed("1 |n a").tag().empty());
  CHECK(Parsed("1 'a:b:c |n a").tag() == "a:b:c");
}

TEST_CASE("tab is white space in the label section", "[parser]") {
  const Parsed p("1\t2\t'tag\t|n a");
  CHECK(p.only().label == 1);
  CHECK(p.only().importance == 2);
  CHECK(p.tag() == "tag");
}

TEST_CASE("a line without a bar is an example without features", "[parser]") {
  const Parsed p("1");
  CHECK(p.only().label == 1);
  CHECK(p.only().tag_size == 0);
  CHECK(p.chunk.features.empty());
  CHECK(p.chunk.runs.empty());
  const Parsed tagged("-1 3 'tag\r\n");
  CHECK(tagged.only().importance == 3);
  CHECK(tagged.tag() == "tag");
  CHECK(Parsed("1 |").only().runs_end == 0);
}

TEST_CASE("line ends", "[parser]") {
  for (const char* text :
       {"1 |n a\n1 |m b", "1 |n a\n1 |m b\n", "1 |n a\r\n1 |m b\r\n", "1 |n a\r\n1 |m b\r"}) {
    const Parsed p(text);
    CHECK(p.chunk.examples.size() == 2);
    CHECK(p.chunk.bad.empty());
    CHECK(p.run_names() == "n m");
    CHECK(p.chunk.features[1].hash == h("b", h("m", 0)));
  }
}

TEST_CASE("only one carriage return belongs to the line end", "[parser]") {
  const ParserOptions all{.hash = HashMode::kAll};
  CHECK(Parsed("1 |n a\r\r\n", all).chunk.features[0].hash == murmur3("a\r", murmur3("n", 0)));
  CHECK(Parsed("1 |n a\rb\r\n").chunk.features[0].hash == h("a\rb", h("n", 0)));
}

TEST_CASE("a carriage return ends every kind of token", "[parser]") {
  CHECK(Parsed("1 |n a:2\r\n").values() == Values{2});
  CHECK(Parsed("1 |n a:b\r\n").hashes() == Hashes{19794});
  CHECK(Parsed("1 |n a:\r\n").hashes() == Hashes{55346});
  CHECK(Parsed("1 |n a \r\n").hashes() == Hashes{55346});
  CHECK(Parsed("1 |n\r\n").only().runs_end == 0);
  CHECK(Parsed("1 |\r\n").only().runs_end == 0);
  CHECK(Parsed("1 |n:2\r\n").only().runs_end == 0);
  CHECK(Parsed("1\r\n").only().label == 1);
}

TEST_CASE("blank lines are counted and are no examples", "[parser]") {
  const Parsed p("\n1 |n a\n\r\n  \t \n \r\n\xEF\xBB\xBF\n-1 |n b\n\n");
  CHECK(p.chunk.blank_lines == 6);
  CHECK(p.chunk.bad.empty());
  REQUIRE(p.chunk.examples.size() == 2);
  CHECK(p.chunk.examples[0].line == 2);
  CHECK(p.chunk.examples[1].line == 7);
  CHECK(Parsed("").chunk.blank_lines == 0);
  CHECK(Parsed(" ").chunk.blank_lines == 1);
}

TEST_CASE("a byte order mark is stripped on every line", "[parser]") {
  const Parsed p(
      "\xEF\xBB\xBF"
      "1 |n a\n\xEF\xBB\xBF|n a\n\xEF\xBB\xBF'x |n a\n");
  CHECK(p.chunk.bad.empty());
  REQUIRE(p.chunk.examples.size() == 3);
  CHECK(p.chunk.examples[0].label == 1);
  CHECK(p.chunk.examples[1].label == 0);
  CHECK(p.chunk.view(p.chunk.examples[2].tag_begin, p.chunk.examples[2].tag_size) == "x");
  CHECK(p.hashes() == Hashes{55346, 55346, 55346});
}

TEST_CASE("bytes are opaque", "[parser]") {
  const std::string name("a\0\x80\xff#\"'\\", 8);
  const Parsed p("1 |n " + name + " b");
  CHECK(p.chunk.features.at(0).hash == h(name, h("n", 0)));
  CHECK(p.chunk.features.at(1).hash == h("b", h("n", 0)));
  const std::string space("x\0y", 3);
  CHECK(Parsed("1 |" + space + " a").run_names() == space);
  CHECK(Parsed(std::string("1 |n a\0", 7)).hashes() == Hashes{55346});  // trimmed by the hash
}

TEST_CASE("separators repeat and may be tabs", "[parser]") {
  const Parsed p("1  \t |n \t a  b\t\tc \t|m\td \t ");
  CHECK(p.run_names() == "n:3 m");
  CHECK(p.chunk.features.at(3).hash == h("d", h("m", 0)));
}

TEST_CASE("a bar ends a feature", "[parser]") {
  CHECK(Parsed("1 |n a|m b:2|o c").run_names() == "n m o");
  CHECK(Parsed("1 |n a|m b:2|o c").values() == Values{1, 2, 1});
}

TEST_CASE("the default namespace", "[parser]") {
  for (const char* text : {"1 | a", "1 |\ta", "1 ||n|  a", "1 | a |"}) {
    const Parsed p(text);
    CHECK(p.run_names().empty());
    CHECK(p.hashes() == Hashes{92594});
    CHECK(p.chunk.runs.at(0).hash == 0);
  }
  CHECK(Parsed("1 | a", {.hash_seed = 5}).chunk.runs.at(0).hash == murmur3("", 5));
}

TEST_CASE("namespaces without features leave no run", "[parser]") {
  const Parsed p("1 |a |b x |c\n1 |d");
  CHECK(p.run_names() == "b");
  CHECK(p.names.size() == 1);
}

TEST_CASE("a namespace that comes twice has two runs and one id", "[parser]") {
  const Parsed p("1 |n a |m b |n c");
  CHECK(p.run_names() == "n m n");
  CHECK(p.chunk.runs.at(0).name == p.chunk.runs.at(2).name);
  CHECK(p.chunk.runs.at(2).hash == h("n", 0));
}

TEST_CASE("namespaces are told apart by their full name", "[parser]") {
  const Parsed p("1 |user a |use b |user_id c |u d\n1 |u a |user b");
  CHECK(p.run_names() == "user use user_id u u user");
  CHECK(p.names.size() == 4);
  CHECK(p.chunk.runs.at(5).name == p.chunk.runs.at(0).name);
}

TEST_CASE("namespace ids follow the first appearance, over chunks and parsers", "[parser]") {
  NamespaceNames names;
  Parser first(names, {}), second(names, {});
  ExampleChunk chunk;
  chunk.bytes = "1 |zz a |y b\n1 |x c |zz d";
  first.parse(chunk);
  CHECK(names.name(0) == "zz");
  CHECK(names.name(1) == "y");
  CHECK(names.name(2) == "x");
  chunk.clear();
  chunk.bytes = "1 |w a |x b";
  second.parse(chunk);
  CHECK(names.name(3) == "w");
  CHECK(chunk.runs.at(1).name == 2);
}

TEST_CASE("very many namespaces", "[parser]") {
  std::string line = "1";
  for (int i = 0; i < 3000; ++i) line += " |space" + std::to_string(i) + " f";
  const Parsed p(line + "\n" + line);
  REQUIRE(p.chunk.runs.size() == 6000);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    CHECK(p.chunk.runs[i].name == i);
    CHECK(p.chunk.runs[3000 + i].name == i);
    CHECK(p.chunk.runs[3000 + i].hash == p.chunk.runs[i].hash);
  }
}

TEST_CASE("feature values", "[parser]") {
  CHECK(Parsed("1 |n a:2 b:-1.5 c:+3 d:.5 e:5. f:1e2 g").values() ==
        Values{2, -1.5f, 3, 0.5f, 5, 100, 1});
}

TEST_CASE("features of value 0 are dropped", "[parser]") {
  CHECK(Parsed("1 |n a:0 b c:-0.0 d:1e-60").values() == Values{1});
  CHECK(Parsed("1 |n a:0").chunk.runs.empty());
}

TEST_CASE("duplicate features are kept", "[parser]") {
  CHECK(Parsed("1 |n a a:2 a").values() == Values{1, 2, 1});
}

TEST_CASE("a namespace weight multiplies the values", "[parser]") {
  CHECK(Parsed("1 |n:2 a b:3 c:-1 :5").values() == Values{2, 6, -2, 10});
  CHECK(Parsed("1 |n:0.5 a |m b").values() == Values{0.5f, 1});
  CHECK(Parsed("1 |n:0 a b:3").values().empty());
  CHECK(Parsed("1 |n:-1e0|m a").values() == Values{1});
}

TEST_CASE("a namespace weight does not change hashes", "[parser]") {
  CHECK(Parsed("1 |n:2 a").hashes() == Hashes{55346});
}

TEST_CASE("a colon without a value is value 1", "[parser]") {
  CHECK(Parsed("1 |n a:").hashes() == Hashes{55346});
  CHECK(Parsed("1 |n a:\r\n").values() == Values{1});
  CHECK(Parsed("1 |n a:\n1 |n b").hashes() == Hashes{55346, 233442});
}

// Hashes and values of the next three were printed by VW's own parser.
TEST_CASE("a colon looks for its value behind spaces", "[parser]") {
  const auto made = [](const char* features) {
    const Parsed p("1 |n " + std::string(features));
    p.only();
    std::vector<std::pair<std::uint32_t, float>> out;
    for (std::size_t f = 0; f < p.hashes().size(); ++f) {
      out.emplace_back(p.hashes()[f], p.values()[f]);
    }
    return out;
  };
  using Made = std::vector<std::pair<std::uint32_t, float>>;
  CHECK(made("a: b") == Made{{19794, 1}});
  CHECK(made("a:    true sadness:false") == Made{{161429, 1}, {81685, 1}});
  CHECK(made("a: 2") == Made{{55346, 2}});
  CHECK(made("a:   3 c") == Made{{55346, 3}, {63514, 1}});
  CHECK(made("a: -2.5|n c") == Made{{55346, -2.5f}, {63514, 1}});
  CHECK(made("a: 0 c") == Made{{63514, 1}});
  CHECK(made("a: b:c d") == Made{{189725, 1}, {190078, 1}});
  CHECK(made("a: :3 d") == Made{{146315, 1}, {190078, 1}});
  CHECK(made("a: |m x") == Made{{218966, 1}, {93578, 1}});
  CHECK(made(":   3 c") == Made{{121004, 3}, {63514, 1}});
  CHECK(made(": b") == Made{{233442, 1}});
  for (const char* nothing : {"a: ", "a:   ", "a: \r\n", "a: \t", ": "}) {
    CHECK(made(nothing).empty());
  }
}

TEST_CASE("behind a tab is a string, or another feature", "[parser]") {
  const auto made = [](const char* features) {
    return Parsed("1 |n " + std::string(features)).hashes();
  };
  CHECK(made("a:\tb c") == Hashes{19794, 63514});
  CHECK(made("a:\t2 c") == Hashes{55348, 63514});
  CHECK(made("a:\t\t 2 c") == Hashes{55348, 63514});
  CHECK(made("a:\t|m x") == Hashes{218966, 93578});
  CHECK(made("a:\t") == Hashes{55346});
  CHECK(made(":\t3") == Hashes{121007});
  CHECK(made("a: \t2 c") == Hashes{121006, 63514});
  CHECK(made("a: \t|m x") == Hashes{72762});
  CHECK(made(": \t:2") == Hashes{121005});  // counts as an anonymous feature of value 0
}

TEST_CASE("a namespace weight may stand behind spaces", "[parser]") {
  CHECK(Parsed("1 |n:  2 a").values() == Values{2});
  CHECK(Parsed("1 |n: -2 a: 3").values() == Values{-6});
  CHECK(Parsed("1 |n: 2|m a").values() == Values{1});
  CHECK(Parsed("1 |n:2 a: b").values() == Values{1});
}

TEST_CASE("a value that is no number is a string value", "[parser]") {
  const std::uint32_t n = h("n", 0);
  auto hash_of = [](std::string_view feature) {
    const Parsed p("1 |n " + std::string(feature) + " z");
    INFO(feature);
    p.only();
    REQUIRE(p.chunk.features.size() == 2);
    return p.chunk.features[0].hash;
  };
  CHECK(hash_of("color:red") == h("red", h("color", n)));
  CHECK(hash_of("12:x") == h("x", 12 + n));
  CHECK(hash_of(":x") == h("x", n));
  CHECK(hash_of("a:nancy") == h("nancy", h("a", n)));
  CHECK(hash_of("a:info") == h("info", h("a", n)));
  CHECK(hash_of("a:_1") == h("_1", h("a", n)));
}

TEST_CASE("a string value runs to the next white space", "[parser]") {
  const std::uint32_t a = h("a", h("n", 0));
  CHECK(Parsed("1 |n a:b:c d").chunk.features.at(0).hash == h("b:c", a));
  CHECK(Parsed("1 |n a:b|m d").chunk.features.at(0).hash == h("b|m", a));
  CHECK(Parsed("1 |n a::b").chunk.features.at(0).hash == h(":b", a));
  CHECK(Parsed("1 |n a:b:1|c:\td").hashes().size() == 2);
}

TEST_CASE("a namespace weight does not apply to string values", "[parser]") {
  CHECK(Parsed("1 |n:2 a:b d c:").values() == Values{1, 2, 1});
}

TEST_CASE("anonymous features count from the namespace's hash, anew at each bar", "[parser]") {
  const std::uint32_t n = h("n", 0), m = h("m", 0);
  const Parsed p("1 |n :1 :2 a :6 |m :3 |n :");
  const auto& f = p.chunk.features;
  REQUIRE(f.size() == 6);
  CHECK(f[0].hash == n);
  CHECK(f[1].hash == n + 1);
  CHECK(f[3].hash == n + 2);
  CHECK(f[4].hash == m);
  CHECK(f[5].hash == n);
  CHECK(f[5].value == 1);
}

TEST_CASE("a dropped anonymous feature still counts", "[parser]") {
  CHECK(Parsed("1 |n :0 :2").chunk.features.at(0).hash == h("n", 0) + 1);
}

TEST_CASE("names of every length and kind", "[parser]") {
  std::string line = "1";
  std::vector<std::string> names;
  for (std::size_t size = 1; size <= 40; ++size) {
    names.push_back(std::string(size, 'q'));
    names.push_back(std::string(size, '7'));
    names.push_back(std::string(size - 1, '7') + "x");
  }
  for (int twice = 0; twice < 2; ++twice) {
    for (const std::string& name : names) line += " |z " + name;
  }
  const Parsed p(line);
  REQUIRE(p.chunk.features.size() == 2 * names.size());
  for (std::size_t i = 0; i < p.chunk.features.size(); ++i) {
    CHECK(p.chunk.features[i].hash == h(names[i % names.size()], h("z", 0)));
  }
}

TEST_CASE("a namespace is the same wherever it comes again, however long its name", "[parser]") {
  // From the second line on the names are known, and read in a faster way.
  std::string line = "1", runs;
  for (std::size_t size = 1; size <= 12; ++size) {
    const std::string name = std::string("abcdefghijkl").substr(0, size);
    line += " |" + name + " x" + std::to_string(size) + " |" + name + " longer_than_a_word";
    runs += (runs.empty() ? "" : " ") + name + " " + name;
  }
  const Parsed one(line + "\n");
  CHECK(one.run_names() == runs);
  const Parsed parsed(line + "\n" + line + "\n" + line + "\r\n" + line);
  const std::size_t count = one.chunk.features.size();
  REQUIRE(count == 24);
  REQUIRE(parsed.chunk.features.size() == 4 * count);
  for (std::size_t i = 0; i < 4 * count; ++i) {
    CHECK(parsed.chunk.features[i].hash == one.chunk.features[i % count].hash);
    CHECK(parsed.names.name(parsed.chunk.runs[i].name) ==
          one.names.name(one.chunk.runs[i % count].name));
  }
  CHECK(one.hashes()[2] == Parsed("|ab x2").hashes()[0]);
}

TEST_CASE("numbers are read from namespaces of several letters that are known", "[parser]") {
  const Parsed parsed("1 |user 5 |b x |age 7\n1 |user 6 |b x |age 8\n1 |b x |user 9\n",
                      {.numbers = {"user"}});
  std::vector<float> numbers;
  for (const NamespaceRun& run : parsed.chunk.runs) {
    const Feature& feature = parsed.chunk.features[run.begin];
    if (feature.hash == 0) numbers.push_back(feature.value);
  }
  CHECK(numbers == std::vector<float>{5, 6, 9});
}

TEST_CASE("names are kept on demand", "[parser]") {
  const Parsed p("1 |n a b:2 c:red :4 d:0 e:\n|m f", {.keep_names = true});
  const auto& names = p.chunk.names;
  REQUIRE(names.size() == p.chunk.features.size());
  auto name = [&](std::size_t i) {
    return std::string(p.chunk.view(names[i].name_begin, names[i].name_size)) + "^" +
           std::string(p.chunk.view(names[i].value_begin, names[i].value_size));
  };
  CHECK(name(0) == "a^");
  CHECK(name(1) == "b^");
  CHECK(name(2) == "c^red");
  CHECK(name(3) == "^");
  CHECK(name(4) == "e^");
  CHECK(name(5) == "f^");
  CHECK(Parsed("1 |n a").chunk.names.empty());
}

TEST_CASE("a chunk can be appended to and used again", "[parser]") {
  NamespaceNames names;
  Parser parser(names, {});
  ExampleChunk chunk;
  for (int round = 0; round < 3; ++round) {
    chunk.clear();
    chunk.first_line = 100;
    chunk.bytes = "1 |n a |m b c\n-1 |m d\nbad |n\n";
    parser.parse(chunk);
    CHECK(chunk.examples.at(1).line == 101);
    CHECK(chunk.examples.at(1).runs_begin == 2);
    CHECK(chunk.runs.at(2).begin == 3);
    CHECK(chunk.runs.at(2).end == 4);
    CHECK(chunk.bad.at(0).line == 102);
  }
}

}  // namespace
}  // namespace leveret::text
