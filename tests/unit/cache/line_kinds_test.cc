// Every line of the stream lies in a chunk, as an example, as bad or as blank, and chunks know
// their place; a cache tells the same as the text that it was made from.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <thread>

#include "cache/cache_reader.h"
#include "cache/cache_tee.h"
#include "cache/cache_writer.h"
#include "stream/example_reader.h"
#include "stream/helpers.h"
#include "stream/serial_reader.h"

using namespace leveret;
using namespace leveret::cache;
using namespace leveret::stream;
using namespace leveret::stream::testing;

namespace {

constexpr std::size_t kShortLine = 200;
const std::string kLong(kShortLine + 1, 'x');

/// A letter for each line of the chunk: e(xample), n (bad), b(lank).
std::string kinds(const text::ExampleChunk& chunk) {
  std::string all(chunk.lines(), 'b');
  for (const text::Example& example : chunk.examples) {
    all.at(example.line - chunk.first_line) = 'e';
  }
  for (const text::BadLine& bad : chunk.bad) all.at(bad.line - chunk.first_line) = 'n';
  return all;
}

/// Those of all lines, as one thread is told, a bar between sources; checks that chunks follow each
/// other.
std::string kinds_of(ExampleSource& reader) {
  text::ExampleChunk chunk;
  std::string all;
  std::uint32_t source = 0;
  std::uint64_t line = 1, block = 0;
  std::uint32_t part = 0;
  while (reader.next(chunk)) {
    for (; source != chunk.source; ++source, line = 1) all += '|';
    CHECK(chunk.first_line == line);
    CHECK(chunk.place.block == block);
    CHECK(chunk.place.part == part);
    line += chunk.lines();
    part = chunk.place.last ? 0 : part + 1;
    block += chunk.place.last;
    all += kinds(chunk);
  }
  return all;
}

struct Case {
  std::string text, kinds;
};

/// Some lines of each kind, mostly examples.
Case mixed(std::size_t count) {
  Case made;
  for (std::size_t i = 0; i < count; ++i) {
    const char* const blanks[] = {"\n", " \t\n", "\r\n", "\xEF\xBB\xBF\n"};
    if (i % 7 == 3) {
      made.text += blanks[i % 4];
      made.kinds += 'b';
    } else if (i % 11 == 4) {
      made.text += i % 2 ? "x |a\n" : kLong + "\n";
      made.kinds += 'n';
    } else {
      made.text += "1 |a x" + std::to_string(i) + " |b y\n";
      made.kinds += 'e';
    }
  }
  return made;
}

std::vector<std::vector<Case>> cases() {
  const Case none{"", ""}, open{"1 |a b\n\n x", "ebn"}, blank{"\n \n", "bb"}, bad{"x\n", "n"};
  const Case ends{"\n\n" + kLong + "\n1 |a\n\n\n", "bbnebb"};
  // More than a block leaves out.
  const Case empty{std::string(kBlockLeftOut + 9, '\n') + "1 |a b\n" + std::string(9, '\n'),
                   std::string(kBlockLeftOut + 9, 'b') + "e" + std::string(9, 'b')};
  Case all_bad;
  for (std::size_t i = 0; i < kBlockLeftOut + 1; ++i) all_bad.text += "x\n";
  all_bad.kinds.assign(kBlockLeftOut + 1, 'n');
  return {{none},
          {blank},
          {bad},
          {open, open},
          {ends, none, blank, ends},
          {mixed(10)},
          {mixed(20000), bad, mixed(9000)},
          {empty, open},
          {all_bad, blank}};
}

std::string expected(const std::vector<Case>& sources) {
  std::string all;
  for (std::size_t i = 0; i < sources.size(); ++i) all += (i > 0 ? "|" : "") + sources[i].kinds;
  // Of sources without lines at the end nothing is told.
  return all.substr(0, all.find_last_not_of('|') + 1);
}

std::vector<std::string> write(const TempDir& dir, const std::vector<Case>& sources) {
  std::vector<std::string> paths;
  for (const Case& source : sources) {
    paths.push_back(dir.write(std::to_string(paths.size()), source.text));
  }
  return paths;
}

std::string make_cache(const std::vector<std::string>& paths, const std::string& cache,
                       const ReaderOptions& options) {
  text::NamespaceNames names;
  CacheTee tee(
      std::make_unique<ExampleReader>(paths, options, names, text::ParserOptions{}),
      std::make_unique<CacheWriter>(cache, paths, make_cache_key(paths, {}, kShortLine), names));
  return kinds_of(tee);
}

}  // namespace

TEST_CASE("every line is told of, in order, by text and by cache") {
  for (const std::vector<Case>& sources : cases()) {
    const TempDir dir;
    const std::vector<std::string> paths = write(dir, sources);
    const std::string want = expected(sources);
    for (const std::size_t chunk_bytes : {50, 64 << 10}) {
      const ReaderOptions options{.chunk_bytes = chunk_bytes, .max_line = kShortLine};
      text::NamespaceNames names;
      SerialReader serial(paths, options, names, {});
      CHECK((kinds_of(serial) == want));
      std::filesystem::remove(dir.path("cache"));
      CHECK((make_cache(paths, dir.path("cache"), options) == want));
      text::NamespaceNames cached;
      CacheReader reader(dir.path("cache"), cached, nullptr);
      CHECK((kinds_of(reader) == want));
      const CacheTotals totals = inspect_cache(dir.path("cache"), true).totals;
      CHECK(totals.blank_lines ==
            static_cast<std::uint64_t>(std::count(want.begin(), want.end(), 'b')));
      CHECK(totals.bad_lines ==
            static_cast<std::uint64_t>(std::count(want.begin(), want.end(), 'n')));
    }
  }
}

TEST_CASE("the chunks that several threads take, put in order, are the stream", "[threads]") {
  const TempDir dir;
  const std::vector<Case> sources = {mixed(30000), {"\n", "b"}, mixed(30000)};
  const std::vector<std::string> paths = write(dir, sources);
  make_cache(paths, dir.path("cache"), {.max_line = kShortLine});
  text::NamespaceNames names;
  CacheReader reader(dir.path("cache"), names, nullptr);
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> all;
  std::mutex mutex;
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < 5; ++i) {
    workers.emplace_back([&] {
      text::ExampleChunk chunk;
      while (reader.next(chunk)) {
        const std::lock_guard lock(mutex);
        all[{chunk.place.block, chunk.place.part}] += kinds(chunk);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  std::string told, want;
  for (const auto& [place, kinds] : all) told += kinds;
  for (const Case& source : sources) want += source.kinds;
  CHECK((told == want));
}

TEST_CASE("a block whose lines do not fit together is refused") {
  text::NamespaceNames names;
  text::Parser parser(names, {});
  text::ExampleChunk chunk;
  chunk.bytes = "1 |a b\n\nx\n1 |a b\n\n";
  parser.parse(chunk);
  BlockEncoder encoder(names);
  BlockEncoder::At at;
  REQUIRE(encoder.add(chunk, at));
  std::string block;
  encoder.finish(block);
  // Two gaps, before example 1 (two lines) and behind the last (one); line 2 of the block is bad.
  std::string left_out;
  for (const std::uint32_t value : {2, 1, 2, 2, 1, 1, 2}) files::put(left_out, value);
  const std::size_t where = block.find(left_out);
  REQUIRE(where != std::string::npos);
  const auto fault = [&](std::size_t which, std::uint32_t value) -> std::string {
    std::string forged = block;
    std::memcpy(&forged[where + 4 * which], &value, 4);
    BlockDecoder decoder(names);
    try {
      decoder.start(forged);
    } catch (const files::BytesReader::BadBytes& bad) {
      CHECK_FALSE(decoder.next(chunk, 100));
      return bad.what();
    }
    return "";
  };
  CHECK(fault(6, 1).empty());
  CHECK(fault(6, 4).empty());  // the one behind the last example
  for (const std::uint32_t example_or_none : {0u, 3u, 5u, ~0u}) {
    CHECK(fault(6, example_or_none) == "a bad line is none of those it leaves out");
  }
  CHECK(fault(2, 3) == "its line numbers are not in order");  // a gap behind no example
  CHECK(fault(1, 2) == "its line numbers are not in order");
  CHECK(fault(4, kBlockLeftOut) == "it leaves out too many lines");
}
