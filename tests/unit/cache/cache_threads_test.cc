// Several threads that take chunks from one cache.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <thread>

#include "cache/cache_reader.h"
#include "cache/cache_tee.h"
#include "cache/cache_writer.h"
#include "stream/example_reader.h"
#include "stream/helpers.h"

using namespace leveret;
using namespace leveret::cache;
using namespace leveret::stream;
using namespace leveret::stream::testing;

namespace {

using Lines = std::vector<std::uint64_t>;

void make_cache(const TempDir& dir, std::size_t examples) {
  std::string text;
  for (std::size_t i = 0; i < examples; ++i) {
    text += "1 |a x" + std::to_string(i % 7) + " |b y" + std::to_string(i) + " z:2\n";
  }
  const std::vector<std::string> paths = {dir.write("text", text)};
  text::NamespaceNames names;
  const text::ParserOptions parser;
  CacheTee tee(std::make_unique<ExampleReader>(paths, ReaderOptions{}, names, parser),
               std::make_unique<CacheWriter>(dir.path("cache"), paths,
                                             make_cache_key(paths, parser, 1 << 20), names));
  text::ExampleChunk chunk;
  while (tee.next(chunk)) {
  }
}

/// The lines that so many threads get of the reader, in order, and how many of them end by an
/// error.
Lines lines_of(ExampleSource& reader, unsigned threads, unsigned& errors) {
  Lines all;
  std::mutex mutex;
  std::atomic<unsigned> failed{0};
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      text::ExampleChunk chunk;
      try {
        while (reader.next(chunk)) {
          const std::lock_guard lock(mutex);
          for (const text::Example& example : chunk.examples) all.push_back(example.line);
        }
      } catch (const std::runtime_error&) {
        ++failed;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  errors = failed;
  std::sort(all.begin(), all.end());
  return all;
}

Lines first_lines(std::size_t count) {
  Lines lines(count);
  for (std::size_t i = 0; i < count; ++i) lines[i] = i + 1;
  return lines;
}

}  // namespace

TEST_CASE("threads share out a cache: each example comes once, also with fewer blocks than threads",
          "[threads]") {
  const TempDir dir;
  for (const std::size_t examples : {3, 8000, 60000}) {
    std::filesystem::remove(dir.path("cache"));
    make_cache(dir, examples);
    for (const unsigned threads : {1u, 2u, 9u}) {
      text::NamespaceNames names;
      CacheReader reader(dir.path("cache"), names, nullptr);
      unsigned errors = 0;
      CHECK(lines_of(reader, threads, errors) == first_lines(examples));
      CHECK(errors == 0);
      CHECK(reader.bytes_read() == reader.bytes_total());
    }
  }
}

TEST_CASE("a block that is broken ends every thread, and what was good before it comes once",
          "[threads]") {
  const TempDir dir;
  make_cache(dir, 60000);
  std::string bytes = contents(dir.path("cache"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  dir.write("bad", bytes);
  for (const unsigned threads : {1u, 2u, 9u}) {
    text::NamespaceNames names;
    CacheReader reader(dir.path("bad"), names, nullptr);
    unsigned errors = 0;
    const Lines lines = lines_of(reader, threads, errors);
    CHECK(lines == first_lines(lines.size()));
    CHECK(lines.size() > 8000);
    CHECK(lines.size() < 60000);
    CHECK(errors > 0);
  }
}

TEST_CASE("what is left when the reader is stopped is handed out to no thread", "[threads]") {
  const TempDir dir;
  make_cache(dir, 60000);
  text::NamespaceNames names;
  CacheReader reader(dir.path("cache"), names, nullptr);
  text::ExampleChunk chunk;
  CHECK(reader.next(chunk));
  CHECK(chunk.examples.size() < 8000);
  reader.stop();
  unsigned errors = 0;
  CHECK(lines_of(reader, 4, errors).empty());
  CHECK(errors == 0);
}
