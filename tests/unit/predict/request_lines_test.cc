#include "predict/request_lines.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "text/parser.h"

namespace leveret::predict {
namespace {

text::NamespaceNames names;

text::ExampleChunk parse(const std::string& lines, std::uint64_t first_line = 1) {
  text::ParserOptions options;
  options.shared_label = true;
  text::ExampleChunk chunk;
  chunk.bytes = lines;
  chunk.first_line = first_line;
  text::Parser(names, options).parse(chunk);
  return chunk;
}

std::string text_of(const std::vector<LineAnswer>& answers) {
  std::string text;
  for (const LineAnswer answer : answers) text += "sen-"[static_cast<std::size_t>(answer)];
  return text;
}

std::string text_of(const std::vector<RequestChunk::Stretch>& stretches) {
  std::string text;
  for (const RequestChunk::Stretch& stretch : stretches) {
    text += (stretch.has_context ? "c" : "-") + std::to_string(stretch.begin) + "-" +
            std::to_string(stretch.end) + " ";
  }
  return text;
}

TEST_CASE("a context, its candidates, an empty line") {
  RequestLines lines;
  RequestChunk chunk;
  lines.read(parse("\nshared |u a\n|x 1\n|x 2\n\n \n|u b\n\n|u c\n|x 3\n"), chunk);
  CHECK(text_of(chunk.answers) == "--sse--e-s");
  CHECK(text_of(chunk.stretches) == "c1-3 c4-4 c5-6 ");
  CHECK(chunk.context.examples.empty());
  CHECK(lines.is_open());
  CHECK(lines.requests() == 3);
}

TEST_CASE("a request goes on in the next chunk") {
  RequestLines lines;
  RequestChunk chunk;
  lines.read(parse("|u a b\n|x 1\n"), chunk);
  lines.read(parse("|x 2\n|x 3\n\n", 3), chunk);
  CHECK(text_of(chunk.answers) == "sse");
  CHECK(text_of(chunk.stretches) == "-0-2 ");
  REQUIRE(chunk.context.examples.size() == 1);
  CHECK(chunk.context.features.size() == 2);
  CHECK(!lines.is_open());
  lines.read(parse("|u a\n", 6), chunk);
  CHECK(chunk.context.examples.empty());
  CHECK(text_of(chunk.stretches) == "c1-1 ");
  CHECK(lines.requests() == 2);
}

TEST_CASE("candidates of a context whose line is bad are lost") {
  RequestLines lines;
  RequestChunk chunk;
  lines.read(parse("yes |u a\n|x 1\nyes |x\n|x 2\n\n|u b\nyes |x\n|x 3\n"), chunk);
  CHECK(text_of(chunk.answers) == "-nnne-ns");
  CHECK(text_of(chunk.stretches) == "c3-4 ");
  lines.read(parse("\nno |u a\n|x 1\n", 9), chunk);
  lines.read(parse("|x 2\n", 12), chunk);
  CHECK(text_of(chunk.answers) == "n");
  CHECK(chunk.stretches.empty());
}

TEST_CASE("the word shared is as no label") {
  const text::ExampleChunk chunk =
      parse("shared |u a\nshared| b\nshared\t|u c\nsharedx |u\n1 shared |u\n");
  REQUIRE(chunk.examples.size() == 3);
  for (const text::Example& example : chunk.examples) {
    CHECK(example.label == 0);
    CHECK(example.tag_size == 0);
  }
  CHECK(chunk.bad.size() == 2);
}

TEST_CASE("the end of a file ends a request, which is answered before what comes next") {
  RequestLines lines;
  RequestChunk chunk;
  const auto file = [](std::uint32_t source, const std::string& text) {
    text::ExampleChunk parsed = parse(text);
    parsed.source = source;
    return parsed;
  };
  lines.read(file(0, "|u a\n|x 1\n"), chunk);
  CHECK(text_of(chunk.answers) == "-s");
  CHECK(lines.is_open());
  lines.read(file(1, "|u b\n|x 2\n\n"), chunk);
  CHECK(text_of(chunk.answers) == "ese");
  CHECK(text_of(chunk.stretches) == "c1-2 ");
  CHECK(chunk.context.examples.empty());
  lines.read(file(2, "yes |u c\n|x 3\n"), chunk);
  CHECK(text_of(chunk.answers) == "-n");
  lines.read(file(3, "\n\n|u d\n"), chunk);
  CHECK(text_of(chunk.answers) == "e--");
  CHECK(lines.requests() == 4);
}

TEST_CASE("the word shared begins a request") {
  RequestLines lines;
  RequestChunk chunk;
  lines.read(parse("|u a\n|x 1\nshared |u b\n|x 2\n shared|u c:d:e\n|x 3\n"
                   "shared no |u\n|x 4\nshared |u f:1:2\n|x 5\nshared |u g\n"),
             chunk);
  CHECK(text_of(chunk.answers) == "-sesesenene");
  CHECK(text_of(chunk.stretches) == "c1-2 c3-4 c5-6 c9-9 ");
  CHECK(lines.requests() == 6);
}

/// What is drawn for the generated streams, line by line. All features are different ones.
struct Stream {
  std::vector<std::string> files;                           ///< their lines
  std::string answers;                                      ///< without those to nothing
  std::vector<std::pair<std::string, std::string>> scored;  ///< context and candidate
};

/// Says what is expected of each line as it is drawn, so that no state machine is written twice:
/// requests are drawn whole, and then how each ends.
Stream random_stream(std::uint32_t seed) {
  std::mt19937 random(seed);
  Stream stream;
  stream.files.emplace_back();
  int next = 0;
  bool separated = true;  // a context needs no word to be one
  for (int r = static_cast<int>(random() % 12); r >= 0; --r) {
    const std::string context = "c" + std::to_string(next++);
    const bool is_bad = random() % 6 == 0;
    const bool shared = !separated || random() % 2 == 0;
    stream.files.back() +=
        std::string(shared ? "shared" : "") + (is_bad ? " no" : "") + " |u " + context + "\n";
    for (int c = static_cast<int>(random() % 4); c > 0; --c) {
      const std::string candidate = "x" + std::to_string(next++);
      const bool bad_one = random() % 6 == 0;
      stream.files.back() += (bad_one ? "no |x " : "|x ") + candidate + "\n";
      stream.answers += is_bad || bad_one ? 'n' : 's';
      if (!is_bad && !bad_one) stream.scored.emplace_back(context, candidate);
    }
    stream.answers += 'e';
    const std::uint32_t end = random() % 3;
    separated = end < 2;
    if (end == 0) {
      for (int n = static_cast<int>(random() % 3); n >= 0; --n) stream.files.back() += " \n";
    }
    if (end == 1) stream.files.emplace_back();
    if (end == 1 && random() % 4 == 0) stream.files.back() += "\n";
  }
  return stream;
}

TEST_CASE("streams of requests, in files with and without empty lines between") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const Stream stream = random_stream(seed);
    INFO("seed " << seed);
    std::map<std::uint32_t, std::string> name_of;
    const auto hash = [&](const text::ExampleChunk& chunk, std::size_t example) {
      return chunk.features[chunk.runs[chunk.examples[example].runs_begin].begin].hash;
    };
    for (const auto& [context, candidate] : stream.scored) {
      for (const std::string& line : {"|u " + context, "|x " + candidate}) {
        name_of[hash(parse(line + "\n"), 0)] = line.substr(3);
      }
    }
    RequestLines lines;
    RequestChunk requests;
    std::string answers;
    std::vector<std::pair<std::string, std::string>> scored;
    for (std::uint32_t file = 0; file < stream.files.size(); ++file) {
      const std::string& text = stream.files[file];
      std::uint64_t line = 1;
      for (std::size_t at = 0; at < text.size();) {
        // Some lines at a time.
        std::size_t end = at;
        std::uint64_t count = 1 + random() % 4, taken = 0;
        for (; taken < count && end < text.size(); ++taken) end = text.find('\n', end) + 1;
        text::ExampleChunk chunk = parse(text.substr(at, end - at), line);
        chunk.source = file;
        line += taken;
        at = end;
        lines.read(chunk, requests);
        for (const char c : text_of(requests.answers)) {
          if (c != '-') answers += c;
        }
        for (const RequestChunk::Stretch& stretch : requests.stretches) {
          const std::string context = stretch.has_context ? name_of[hash(chunk, stretch.begin - 1)]
                                                          : name_of[hash(requests.context, 0)];
          for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
            scored.emplace_back(context, name_of[hash(chunk, i)]);
          }
        }
      }
    }
    if (lines.is_open()) answers += 'e';
    CHECK(answers == stream.answers);
    CHECK(scored == stream.scored);
  }
}

}  // namespace
}  // namespace leveret::predict
