#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <thread>
#include <tuple>

#include "helpers.h"
#include "stream/text_reader.h"

using namespace leveret::stream;
using namespace leveret::stream::testing;
using Catch::Matchers::Contains;
using leveret::text::ExampleChunk;

namespace {

/// All lines by source and number, with what a chunk says of itself checked on the way.
struct Lines {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> good, long_ones;
  std::size_t chunks = 0, largest = 0;
  std::string error;

  void add(const ExampleChunk& chunk) {
    ++chunks;
    largest = std::max(largest, chunk.bytes.size());
    CHECK(chunk.examples.empty());
    CHECK(chunk.features.empty());
    if (!chunk.bad.empty()) {
      CHECK(chunk.bad.size() == 1);
      const auto& bad = chunk.bad[0];
      CHECK(bad.line == chunk.first_line);
      long_ones[{chunk.source, bad.line}] = chunk.view(bad.text_begin, bad.text_size);
      return;
    }
    CHECK(!chunk.bytes.empty());
    std::uint64_t number = chunk.first_line;
    std::size_t at = 0;
    while (at < chunk.bytes.size()) {
      const std::size_t end = std::min(chunk.bytes.find('\n', at), chunk.bytes.size());
      const bool inserted =
          good.emplace(std::pair(chunk.source, number++), chunk.bytes.substr(at, end - at)).second;
      CHECK(inserted);
      at = end + 1;
    }
  }
};

Lines read_all(TextReader& reader) {
  Lines lines;
  ExampleChunk chunk;
  try {
    while (reader.next(chunk)) lines.add(chunk);
  } catch (const std::runtime_error& e) {
    lines.error = e.what();
  }
  return lines;
}

Lines read_all(const std::vector<std::string>& paths, ReaderOptions options = {}) {
  TextReader reader(paths, options);
  return read_all(reader);
}

std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> split(
    const std::vector<std::string>& texts) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> lines;
  for (std::uint32_t i = 0; i < texts.size(); ++i) {
    std::size_t at = 0;
    std::uint64_t number = 1;
    while (at < texts[i].size()) {
      const std::size_t end = std::min(texts[i].find('\n', at), texts[i].size());
      lines[{i, number++}] = texts[i].substr(at, end - at);
      at = end + 1;
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("chunks hold all lines once, numbered, whatever their size") {
  const TempDir dir;
  const std::string text =
      some_lines(5000) + "\n\r\n1 |crlf a\r\n\n" + some_lines(10) + "last |a b";
  const auto expected = split({text});
  for (const std::string& bytes : {text, gzip(text), zstd(text)}) {
    const std::string path = dir.write("f", bytes);
    for (const std::size_t chunk_bytes : {16, 17, 64, 1000, 4096, 1 << 20}) {
      ReaderOptions options;
      options.chunk_bytes = chunk_bytes;
      options.chunks_ahead = chunk_bytes % 3 + 1;
      const Lines lines = read_all({path}, options);
      CHECK(lines.good == expected);
      CHECK(lines.long_ones.empty());
      CHECK(lines.error.empty());
      if (chunk_bytes >= 64) CHECK(lines.largest <= chunk_bytes);
    }
  }
}

TEST_CASE("several files do not run into each other") {
  const TempDir dir;
  const std::vector<std::string> texts = {"1 |a b", "", "1 |c d\n-1 |e f", "\n", "-1 |g h\n"};
  std::vector<std::string> paths;
  for (const std::string& text : texts) {
    paths.push_back(dir.write("f" + std::to_string(paths.size()), text));
  }
  TextReader reader(paths, {});
  CHECK(reader.bytes_total() == std::nullopt);  // an empty file has no known size
  CHECK(read_all(reader).good == split(texts));
  CHECK(reader.source_name(2) == paths[2]);
  CHECK(reader.bytes_read() == 6 + 14 + 1 + 8);
}

TEST_CASE("a line of any length up to max_line is whole, a longer one is reported") {
  const TempDir dir;
  for (const std::size_t max_line : {1, 5, 15, 16, 17, 63, 64, 65, 300, 1000}) {
    std::vector<std::string> lines;
    for (std::size_t length :
         {max_line, max_line + 1, std::size_t{1}, 3 * max_line, max_line - 1, 10 * max_line + 7,
          std::size_t{1}, max_line + 1, max_line + 1, max_line}) {
      lines.push_back(std::string(length, static_cast<char>('a' + lines.size())));
    }
    for (const bool final_newline : {false, true}) {
      for (std::size_t last = 1; last <= lines.size(); ++last) {
        std::string text;
        std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> good, long_ones;
        for (std::size_t i = 0; i < last; ++i) {
          text += (i ? "\n" : "") + lines[i];
          if (lines[i].size() <= max_line) {
            if (!lines[i].empty() || i + 1 < last || final_newline) good[{0, i + 1}] = lines[i];
          } else {
            long_ones[{0, i + 1}] =
                lines[i].substr(0, std::min(max_line, Cutter::kExcerpt));
          }
        }
        if (final_newline) text += "\n";
        const std::string path = dir.write("f", text);
        for (const std::size_t chunk_bytes : {16, 64, 100000}) {
          ReaderOptions options;
          options.chunk_bytes = chunk_bytes;
          options.max_line = max_line;
          const Lines got = read_all({path}, options);
          CHECK(got.good == good);
          CHECK(got.long_ones == long_ones);
        }
      }
    }
  }
}

TEST_CASE("a line far above max_line takes bounded memory") {
  const TempDir dir;
  const std::string text = "1 |a b\n" + std::string(40 << 20, 'x') + "\n-1 |c d\n";
  ReaderOptions options;
  options.max_line = 1 << 20;
  const Lines lines = read_all({dir.write("f.zst", zstd(text))}, options);
  CHECK(lines.good.size() == 2);
  CHECK(lines.good.at({0, 3}) == "-1 |c d");
  REQUIRE(lines.long_ones.size() == 1);
  CHECK(lines.long_ones.at({0, 2}) == std::string(Cutter::kExcerpt, 'x'));
  CHECK(lines.largest < 2000);
}

TEST_CASE("max_line has a range") {
  CHECK_THROWS_WITH(TextReader({"/dev/null"}, {.max_line = 0}), Contains("--max_line"));
  CHECK_THROWS_WITH(TextReader({"/dev/null"}, {.max_line = (std::size_t{2} << 30) + 1}),
                    Contains("--max_line"));
  CHECK(read_all({"/dev/null"}, {.max_line = std::size_t{2} << 30}).good.empty());
}

TEST_CASE("each line is handed on before the next is written") {
  Pipe pipe;
  TextReader reader({pipe.path()}, {});
  ExampleChunk chunk;
  for (int i = 1; i <= 200; ++i) {
    const std::string line = i % 50 ? std::to_string(i) + "\n" : std::string(100000, 'x') + "\n";
    if (i % 2) {  // the beginning of a line alone is no line
      pipe.write(line.substr(0, 1));
      pipe.write(line.substr(1));
    } else {
      pipe.write(line);
    }
    REQUIRE(reader.next(chunk));  // hangs when the line is held back
    REQUIRE(chunk.bytes == line);
    REQUIRE(chunk.first_line == static_cast<std::uint64_t>(i));
  }
  pipe.write("unfinished");
  pipe.end();
  REQUIRE(reader.next(chunk));
  CHECK(chunk.bytes == "unfinished");
  CHECK_FALSE(reader.next(chunk));
  CHECK_FALSE(reader.next(chunk));
}

TEST_CASE("whole lines are handed on while the rest of one is missing") {
  Pipe pipe;
  TextReader reader({pipe.path()}, {});
  ExampleChunk chunk;
  pipe.write("1 |a b\n1 |c d\n-1 |unfin");
  REQUIRE(reader.next(chunk));
  CHECK(chunk.bytes == "1 |a b\n1 |c d\n");
  pipe.write("ished\n");
  REQUIRE(reader.next(chunk));
  CHECK(chunk.bytes == "-1 |unfinished\n");
  CHECK(chunk.first_line == 3);
}

TEST_CASE("the lines before a fault come first, then its error, to every thread") {
  const TempDir dir;
  const std::string text = some_lines(30000);
  const std::string packed = gzip(text);
  const std::string ok = dir.write("ok", "1 |a\n");
  const std::string cut = dir.write("cut.gz", packed.substr(0, packed.size() / 2));
  const Lines lines = read_all({ok, cut, ok});
  CHECK_THAT(lines.error, Contains("cut.gz") && Contains("truncated"));
  CHECK(lines.good.size() > 5000);
  const auto expected = split({"1 |a\n", text});
  for (const auto& [where, line] : lines.good) {
    if (expected.at(where) != line) FAIL(fmt::format("line {} is cut: {}", where.second, line));
  }

  TextReader reader({cut}, {});
  std::atomic<int> errors = 0;
  std::vector<std::thread> consumers;
  for (int i = 0; i < 3; ++i) {
    consumers.emplace_back([&] {
      ExampleChunk chunk;
      try {
        while (reader.next(chunk)) {
        }
      } catch (const std::runtime_error&) {
        ++errors;
      }
    });
  }
  for (std::thread& consumer : consumers) consumer.join();
  CHECK(errors == 3);
}

TEST_CASE("what cannot be opened is known before anything is read") {
  const TempDir dir;
  const std::string ok = dir.write("ok", "1 |a\n");
  CHECK_THROWS_WITH(TextReader({ok, dir.path("none")}, {}), Contains("No such file"));
  CHECK_THROWS_WITH(TextReader({ok, dir.path("")}, {}), Contains("directory"));
  CHECK_THROWS_WITH(TextReader({"-", "-"}, {}), Contains("more than once"));
}

TEST_CASE("several threads share the chunks, each line once") {
  const TempDir dir;
  const std::string text = some_lines(50000);
  ReaderOptions options;
  options.chunk_bytes = 4096;
  TextReader reader({dir.write("f", text)}, options);
  Lines lines[4];
  std::vector<std::thread> threads;
  std::vector<std::string> chunks[4];
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      ExampleChunk chunk;
      std::uint64_t last = 0;
      while (reader.next(chunk)) {
        if (chunk.first_line <= last) chunks[i].emplace_back("out of order");
        last = chunk.first_line;
        chunks[i].push_back(chunk.bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::multimap<std::string, int> got;
  std::size_t total = 0;
  for (const auto& of_thread : chunks) {
    for (const std::string& bytes : of_thread) {
      CHECK(bytes != "out of order");
      CHECK(bytes.back() == '\n');
      CHECK(text.find(bytes) != std::string::npos);
      total += bytes.size();
    }
  }
  CHECK(total == text.size());
}

TEST_CASE("chunks are used again, not allocated") {
  const TempDir dir;
  ReaderOptions options;
  options.chunk_bytes = 4096;
  options.chunks_ahead = 2;
  TextReader reader({dir.write("f", some_lines(50000))}, options);
  ExampleChunk chunk;
  std::map<const char*, int> seen;
  std::size_t chunks = 0;
  while (reader.next(chunk)) {
    ++seen[chunk.bytes.data()];
    ++chunks;
  }
  CHECK(chunks > 100);
  CHECK(seen.size() <= 6);  // 2 in the ring, the cutter's two, the consumer's, and the first
}

TEST_CASE("a stop ends the reading and loses no whole line") {
  Pipe pipe;
  TextReader reader({pipe.path()}, {});
  ExampleChunk chunk;
  pipe.write("1 |a b\n");
  REQUIRE(reader.next(chunk));
  std::thread stopper([&] { reader.stop(); });
  CHECK_FALSE(reader.next(chunk));  // hangs when the wait for the pipe goes on
  stopper.join();

  const TempDir dir;
  const std::string text = some_lines(100000);
  TextReader endless({dir.write("f", text)}, {.chunk_bytes = 1000});
  REQUIRE(endless.next(chunk));
  endless.stop();
  Lines lines = read_all(endless);
  CHECK(lines.good.size() < 90000);
  const auto expected = split({text});
  for (const auto& [where, line] : lines.good) REQUIRE(expected.at(where) == line);
}

TEST_CASE("a reader that is not read to its end goes away") {
  const TempDir dir;
  const std::string path = dir.write("f", some_lines(100000));
  Pipe silent;
  for (int i = 0; i < 20; ++i) {
    TextReader untouched({path}, {.chunk_bytes = 100});
    TextReader begun({path}, {.chunk_bytes = 100});
    ExampleChunk chunk;
    CHECK(begun.next(chunk));
    TextReader waiting({silent.path()}, {});
  }
}
