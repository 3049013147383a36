#include "predict/request_lines.h"

#include <catch2/catch.hpp>
#include <string>

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

}  // namespace
}  // namespace leveret::predict
