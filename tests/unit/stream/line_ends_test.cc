// Of text whose lines end with carriage returns alone no reader makes a single example.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>

#include "helpers.h"
#include "stream/example_reader.h"
#include "stream/serial_reader.h"
#include "stream/text_reader.h"

using namespace leveret;
using namespace leveret::stream;
using namespace leveret::stream::testing;
using Catch::Matchers::Contains;

namespace {

struct Read {
  std::size_t lines = 0;
  std::string error;
};

Read read(ExampleSource& source) {
  Read result;
  text::ExampleChunk chunk;
  try {
    while (source.next(chunk)) {
      result.lines +=
          chunk.lines() > 0
              ? chunk.lines()
              : static_cast<std::size_t>(std::count(chunk.bytes.begin(), chunk.bytes.end(), '\n')) +
                    (chunk.bytes.ends_with('\n') ? 0 : 1);
    }
  } catch (const std::runtime_error& error) {
    result.error = error.what();
  }
  return result;
}

std::unique_ptr<ExampleSource> open(unsigned kind, const std::vector<std::string>& paths,
                                    const ReaderOptions& options, text::NamespaceNames& names) {
  if (kind == 0)
    return std::make_unique<ExampleReader>(paths, options, names, text::ParserOptions{});
  if (kind == 1)
    return std::make_unique<SerialReader>(paths, options, names, text::ParserOptions{});
  return std::make_unique<TextReader>(paths, options);
}

}  // namespace

TEST_CASE("lines that end with carriage returns alone are refused, in every reader") {
  const TempDir dir;
  const std::string good = dir.write("good", "1 |a b\n-1 |a c\n");
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::size_t count = 2 + random() % 40;
    const std::string ends[] = {"\r", "\n", "\r\n"};
    const std::size_t kind_of_end = seed % 3;
    std::string text = random() % 2 ? "\xEF\xBB\xBF" : "";
    for (std::size_t i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      text += random() % 2 ? "1 |user u" : "-1 |user u";
      text += std::to_string(random() % 100) + " |ad a:0.5 b";
      if (!last || random() % 2) text += ends[kind_of_end];
    }
    const std::string packed = random() % 2 ? text : random() % 2 ? gzip(text) : zstd(text);
    const std::string path = dir.write("file", packed);
    ReaderOptions options;
    options.chunk_bytes = 16 + random() % 200;
    if (random() % 4 == 0) options.max_line = 40;
    text::NamespaceNames names;
    const auto source = open(random() % 3, {good, path}, options, names);
    const Read got = read(*source);
    INFO(text);
    if (kind_of_end == 0) {
      REQUIRE(got.lines == 2);  // those of the file before it
      REQUIRE_THAT(got.error, Contains(path + ": its lines end with carriage returns alone"));
    } else {
      REQUIRE(got.error.empty());
      REQUIRE(got.lines == 2 + count);
    }
  }
}

TEST_CASE("a carriage return within a line of several is a byte as others are") {
  const TempDir dir;
  for (const char* text : {"1 |a b\rc\n", "1 |a b\rc\n1 |a d", "1 |a b\r", "\r", "1 |a b\r\r"}) {
    text::NamespaceNames names;
    SerialReader reader({dir.write("file", text)}, {}, names, {});
    CHECK(read(reader).error.empty());
  }
}
