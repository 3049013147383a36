#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "stream/example_reader.h"
#include "stream/examples.h"
#include "stream/helpers.h"
#include "stream/serial_reader.h"

using namespace leveret;
using namespace leveret::stream;
using namespace leveret::stream::testing;
using Catch::Matchers::Contains;

namespace {

template <class Reader>
std::string read_all(const std::vector<std::string>& paths, ReaderOptions options) {
  text::NamespaceNames names;
  Reader reader(paths, options, names, {});
  return describe_all(reader, names);
}

std::string read_inline(const std::vector<std::string>& paths, ReaderOptions options) {
  text::NamespaceNames names;
  text::Parser parser(names, {});
  TextReader reader(paths, options);
  text::ExampleChunk chunk;
  std::string all;
  while (reader.next(chunk)) {
    parse_chunk(parser, chunk);
    all += describe(chunk, names);
  }
  return all;
}

}  // namespace

TEST_CASE("examples come in the order of the lines, threaded or not") {
  const TempDir dir;
  const std::string text = "1 |a b:2 c |d e\n\nbad |a\n-1 |a c\n" + some_lines(3000);
  const std::vector<std::string> paths = {dir.write("f", text), dir.write("g", gzip(text))};
  ReaderOptions options;
  options.chunk_bytes = 500;
  const std::string threaded = read_all<ExampleReader>(paths, options);
  CHECK(threaded == read_inline(paths, options));
  CHECK(threaded == read_all<ExampleReader>(paths, options));
  CHECK(threaded == read_all<SerialReader>(paths, options));
  CHECK_THAT(threaded, Contains("bad 0:3 label") && Contains("bad 1:3 label"));
  CHECK(std::count(threaded.begin(), threaded.end(), '\n') == 2 * (3 + 3000));
  const std::string first = threaded.substr(0, threaded.find('\n'));
  CHECK_THAT(first, Contains("0:1 3f800000 3f800000 0 ''") && Contains("|a/") && Contains("|d/"));
}

TEMPLATE_TEST_CASE("a line above max_line is not parsed", "", ExampleReader, SerialReader) {
  const TempDir dir;
  ReaderOptions options;
  options.max_line = 40;
  const std::string text = "1 |a b\n1 |a " + std::string(200, 'x') + "\n-1 |c d\n";
  const std::string all = read_all<TestType>({dir.write("f", text)}, options);
  CHECK_THAT(all, Contains("bad 0:2 line is longer than --max_line"));
  CHECK(std::count(all.begin(), all.end(), '\n') == 3);
}

TEMPLATE_TEST_CASE("an example is handed on before the next line is written", "", ExampleReader,
                   SerialReader) {
  Pipe pipe;
  text::NamespaceNames names;
  TestType reader({pipe.path()}, {}, names, {});
  text::ExampleChunk chunk;
  for (std::uint64_t i = 1; i < 50; ++i) {
    pipe.write("1 |a b\n");
    REQUIRE(reader.next(chunk));
    REQUIRE(chunk.examples.size() == 1);
    REQUIRE(chunk.examples[0].line == i);
  }
  reader.stop();
  CHECK_FALSE(reader.next(chunk));
}

TEMPLATE_TEST_CASE("the error of a source comes after its examples, and stays", "", ExampleReader,
                   SerialReader) {
  const TempDir dir;
  const std::string packed = zstd(some_lines(50000));
  text::NamespaceNames names;
  const std::string cut = dir.write("f", packed.substr(0, packed.size() - 1000));
  TestType reader({cut, dir.write("g", "1 |a b\n")}, {}, names, {});
  text::ExampleChunk chunk;
  std::size_t examples = 0;
  CHECK_THROWS_WITH(
      [&] {
        while (reader.next(chunk)) examples += chunk.examples.size();
      }(),
      Contains("truncated"));
  CHECK(examples > 10000);
  CHECK_THROWS_WITH(reader.next(chunk), Contains("truncated"));
}

TEMPLATE_TEST_CASE("a stop ends the wait for examples", "", ExampleReader, SerialReader) {
  const TempDir dir;
  Pipe silent;
  text::NamespaceNames names;
  TestType reader({dir.write("f", "1 |a b\n"), silent.path(), dir.write("g", "1 |a b\n")}, {},
                  names, {});
  text::ExampleChunk chunk;
  REQUIRE(reader.next(chunk));
  CHECK(reader.bytes_read() == 7);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    reader.stop();
  });
  CHECK_FALSE(reader.next(chunk));
  stopper.join();
  CHECK_FALSE(reader.next(chunk));
  CHECK(reader.bytes_read() == 7);
}

TEST_CASE("an example reader that is not read to its end goes away") {
  const TempDir dir;
  const std::string path = dir.write("f", some_lines(50000));
  Pipe silent;
  for (int i = 0; i < 20; ++i) {
    text::NamespaceNames names;
    ExampleReader untouched({path}, {.chunk_bytes = 100}, names, {});
    ExampleReader begun({path}, {.chunk_bytes = 100}, names, {});
    text::ExampleChunk chunk;
    CHECK(begun.next(chunk));
    ExampleReader waiting({silent.path()}, {}, names, {});
  }
}

TEMPLATE_TEST_CASE("the memory of a long line is let go with its chunk", "", ExampleReader,
                   SerialReader) {
  const TempDir dir;
  const std::string line = "1 |a" + std::string(24 << 20, ' ') + "b\n";
  const std::string path = dir.write("long", line + line + line + some_lines(1000));
  text::NamespaceNames names;
  TestType reader({path}, {}, names, {});
  text::ExampleChunk chunk;
  std::size_t examples = 0, largest = 0;
  while (reader.next(chunk)) {
    examples += chunk.examples.size();
    largest = std::max(largest, chunk.size_bytes());
    chunk.free_large();
    CHECK(chunk.bytes.capacity() < line.size());
  }
  CHECK(examples == 1003);
  CHECK(largest > line.size());
}
