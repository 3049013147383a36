/// Random text, mostly almost right, against the reference parser; and cut in chunks every way.
#include <algorithm>
#include <cstring>
#include <random>

#include "parse_text.h"
#include "reference_parser.h"

namespace leveret::text {
namespace {

class TextMaker {
 public:
  explicit TextMaker(std::uint32_t seed) : random_(seed) {}

  /// A line in the shape of real data, with the odd surprise.
  std::string usual_line() {
    std::string line = pick({"1", "-1", "0", "1 2.5", "-1 1 0.5 'tag", "+1.0", "", "1 t"});
    if (below(8) != 0) line += ' ';
    for (int n = static_cast<int>(below(30)); n > 0; --n) {
      line += '|';
      if (below(10)) line += pick({"a", "b", "c", "z", "user", "a_rather_long_name", "12"});
      if (below(20) == 0) {
        line += ':';
        if (below(6) == 0) line += pick({" ", "  ", "\t"});
        line += number();
      }
      do {
        line += ' ';
        line += name();
        if (below(8) != 0) continue;
        line += ':';
        if (below(6) == 0) line += pick({" ", " ", "   ", "\t", " \t", "\t "});
        line += below(3) ? number() : below(8) ? name() : "";
      } while (below(4) == 0);
      line += pick({" ", " ", " ", " ", "", "  ", "\t"});
    }
    return line + pick({"", "", "", "\r", " "});
  }

  /// Up to some hundred namespaces of one short feature, rarely anything else, and now and then a
  /// fault at the end.
  std::string plain_line() {
    std::string line = "1";
    for (std::size_t n = below(below(4) ? 40 : 700); n > 0; --n) {
      line += " |" + pick({"a", "b", "id", "user_id", "a_rather_long_name"}) + ' ';
      line +=
          below(100) ? std::to_string(random_() % 100000000) : pick({"123456789", "x:2", "y z"});
    }
    return line + (below(5) ? "" : " |a x:nan");
  }

  /// Tokens of the grammar in any order.
  std::string wild_line() {
    std::string line;
    for (int n = static_cast<int>(below(40)); n > 0; --n) {
      line += pick({" ",
                    " ",
                    "|",
                    "|",
                    ":",
                    ":",
                    "\t",
                    "\r",
                    "1",
                    "-1",
                    "0",
                    ".",
                    "-",
                    "+",
                    "e",
                    "5",
                    "nan",
                    "inf",
                    "a",
                    "b",
                    "bcdefghi",
                    "'",
                    "1e39",
                    "0.5",
                    "\xEF\xBB\xBF",
                    "\x80",
                    std::string(1, '\0'),
                    "\x1f"});
    }
    return line;
  }

  std::string bytes() {
    std::string line;
    for (int n = static_cast<int>(below(60)); n > 0; --n) line += static_cast<char>(below(256));
    for (char& c : line) c = c == '\n' ? '|' : c;
    return line;
  }

  std::string line() {
    switch (below(4)) {
      case 0:
        return wild_line();
      case 1:
        return below(4) ? usual_line() : bytes();
      default:
        return usual_line();
    }
  }

  std::string text(int lines) {
    std::string out;
    for (int i = 0; i < lines; ++i) out += line() + '\n';
    if (below(2)) out.pop_back();
    return out;
  }

  /// Some of the namespaces' names.
  std::vector<std::string> names() {
    return below(2) ? std::vector<std::string>{"user", "12"}
                    : std::vector<std::string>{"a_rather_long_name", "a", "never"};
  }

  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::string pick(std::vector<std::string> from) { return from[below(from.size())]; }

  std::string number() {
    return pick({"1", "0", "2.5", "-0.125", "1e3", "3.14159274", "1e-50", "+7", ".5", "0.1",
                 "123456789.123456789", "1e38", "-1e-40", std::to_string(random_())});
  }

  std::string name() {
    static const std::string kAlphabets[] = {"0123456789abcdef", "0123456789", "xyz_-^0\x05\xC3"};
    const std::string& alphabet = kAlphabets[below(3)];
    std::string out;
    for (std::size_t n = 1 + below(below(10) ? 9 : 40); n > 0; --n) {
      out += alphabet[below(alphabet.size())];
    }
    return out;
  }

  std::mt19937 random_;
};

void check_example(const Parsed& parsed, const Example& example, const ReferenceLine& expected,
                   bool keep_names) {
  const ExampleChunk& chunk = parsed.chunk;
  CHECK(example.label == expected.label);
  CHECK(example.importance == expected.importance);
  CHECK(example.initial == expected.initial);
  CHECK(chunk.view(example.tag_begin, example.tag_size) == expected.tag);
  std::size_t at = 0;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const NamespaceRun& run = chunk.runs[r];
    REQUIRE(run.begin < run.end);
    for (std::uint32_t f = run.begin; f < run.end; ++f, ++at) {
      REQUIRE(at < expected.features.size());
      const ReferenceFeature& feature = expected.features[at];
      CHECK(parsed.names.name(run.name) == feature.space);
      CHECK(chunk.features[f].hash == feature.hash);
      CHECK(chunk.features[f].value == feature.value);
      if (!keep_names) continue;
      const FeatureName& name = chunk.names[f];
      CHECK(chunk.view(name.name_begin, name.name_size) == feature.name);
      CHECK(chunk.view(name.value_begin, name.value_size) == feature.string_value);
    }
  }
  CHECK(at == expected.features.size());
}

/// Parses `text` and compares it line by line.
void check_text(const std::string& text, const ParserOptions& options) {
  const Parsed parsed(text, options);
  const ExampleChunk& chunk = parsed.chunk;
  std::size_t examples = 0, bad = 0, blank = 0, features = 0;
  std::uint64_t number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    CAPTURE(line, number);
    const ReferenceLine expected = reference_parse(line, options);
    if (expected.kind == ReferenceLine::kBlank) {
      ++blank;
    } else if (expected.kind == ReferenceLine::kBad) {
      REQUIRE(bad < chunk.bad.size());
      const BadLine& b = chunk.bad[bad++];
      REQUIRE(b.line == number);
      const std::string_view shown = chunk.view(b.text_begin, b.text_size);
      CHECK((line == shown || line == std::string(shown) + "\r"));
      CHECK(b.column >= 1);
      CHECK(b.column <= shown.size() + 1);
      CHECK(std::strlen(b.what) > 0);
    } else {
      REQUIRE(examples < chunk.examples.size());
      const Example& example = chunk.examples[examples++];
      REQUIRE(example.line == number);
      check_example(parsed, example, expected, options.keep_names);
      features += expected.features.size();
    }
  }
  CHECK(chunk.examples.size() == examples);
  CHECK(chunk.bad.size() == bad);
  CHECK(chunk.blank_lines == blank);
  CHECK(chunk.features.size() == features);
  CHECK(chunk.names.size() == (options.keep_names ? features : 0));
}

TEST_CASE("the parser agrees with the reference on random lines", "[property]") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    TextMaker maker(seed);
    ParserOptions options{
        .hash = seed % 3 == 0 ? HashMode::kAll : HashMode::kStrings,
        .hash_seed = seed % 4 == 0 ? seed * 7919 : 0,
        .keep_names = seed % 5 == 0,
        .numbers = seed % 2 == 0 ? std::vector<std::string>{} : maker.names(),
    };
    if (seed % 4 == 1) options.only_numbers = {options.numbers[0]};
    CAPTURE(seed);
    check_text(maker.text(40), options);
  }
}

TEST_CASE("many short features, of good lines and bad ones", "[property]") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    TextMaker maker(seed);
    CAPTURE(seed);
    std::string text;
    for (int line = 0; line < 30; ++line) text += maker.plain_line() + (seed % 7 ? "\n" : "\r\n");
    check_text(text, {.hash = seed % 5 ? HashMode::kStrings : HashMode::kAll});
  }
}

TEST_CASE("single lines at the very end of the text", "[property]") {
  TextMaker maker(77);
  for (int round = 0; round < 3000; ++round) check_text(maker.line(), {});
}

TEST_CASE("a line much longer than a window of the index", "[property]") {
  TextMaker maker(5);
  std::string line = "1 ";
  while (line.size() < 100000) {
    line += "|a";
    for (std::size_t n = maker.below(5000); n > 0; --n) line += maker.below(9) ? 'x' : ' ';
  }
  check_text(line + "\n1 |b c\n" + line, {});
  check_text("1 |a" + std::string(20000, ' ') + "b\n" + "1 |" + std::string(9000, 'n') + " f", {});
  check_text("1 |a " + std::string(5000, ':'), {});
}

/// What a chunk says, without the offsets that depend on where it was cut.
struct Told {
  std::vector<std::uint64_t> lines, bad_lines;
  std::vector<std::string> texts;
  std::vector<std::uint32_t> hashes, columns;
  std::uint64_t blank = 0;
  bool operator==(const Told&) const = default;

  void add(const ExampleChunk& chunk, const NamespaceNames& names) {
    for (const Example& e : chunk.examples) {
      lines.push_back(e.line);
      texts.emplace_back(chunk.view(e.tag_begin, e.tag_size));
      for (std::uint32_t r = e.runs_begin; r < e.runs_end; ++r) {
        texts.emplace_back(names.name(chunk.runs[r].name));
        for (std::uint32_t f = chunk.runs[r].begin; f < chunk.runs[r].end; ++f) {
          hashes.push_back(chunk.features[f].hash);
        }
      }
    }
    for (const BadLine& b : chunk.bad) {
      bad_lines.push_back(b.line);
      columns.push_back(b.column);
      texts.emplace_back(chunk.view(b.text_begin, b.text_size));
    }
    blank += chunk.blank_lines;
  }
};

TEST_CASE("where a text is cut into chunks makes no difference", "[property]") {
  for (std::uint32_t seed = 1000; seed < 1060; ++seed) {
    TextMaker maker(seed);
    const std::string text = maker.text(200);
    const Parsed whole(text);
    // Examples and bad lines are told apart, so one Told each is in order however it is cut.
    Told expected, got;
    expected.add(whole.chunk, whole.names);

    NamespaceNames names;
    Parser parser(names, {});
    std::vector<Told> parts;
    ExampleChunk chunk;
    std::uint64_t line = 1;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t goal = begin + maker.below(3000);
      const std::size_t newline = goal < text.size() ? text.find('\n', goal) : std::string::npos;
      const std::size_t end = newline == std::string::npos ? text.size() : newline + 1;
      chunk.clear();
      chunk.first_line = line;
      chunk.bytes = text.substr(begin, end - begin);
      parser.parse(chunk);
      line += chunk.examples.size() + chunk.bad.size() + chunk.blank_lines;
      Told part;
      part.add(chunk, names);
      parts.push_back(part);
      begin = end;
    }
    for (const Told& part : parts) {
      got.lines.insert(got.lines.end(), part.lines.begin(), part.lines.end());
      got.bad_lines.insert(got.bad_lines.end(), part.bad_lines.begin(), part.bad_lines.end());
      got.hashes.insert(got.hashes.end(), part.hashes.begin(), part.hashes.end());
      got.columns.insert(got.columns.end(), part.columns.begin(), part.columns.end());
      got.texts.insert(got.texts.end(), part.texts.begin(), part.texts.end());
      got.blank += part.blank;
    }
    std::sort(got.texts.begin(), got.texts.end());
    std::sort(expected.texts.begin(), expected.texts.end());
    REQUIRE(got == expected);
  }
}

}  // namespace
}  // namespace leveret::text
