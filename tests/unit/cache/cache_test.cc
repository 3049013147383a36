#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <iterator>
#include <random>

#include "cache/cache_reader.h"
#include "cache/cache_tee.h"
#include "cache/cache_writer.h"
#include "files/bytes.h"
#include "files/faults.h"
#include "stream/example_reader.h"
#include "stream/examples.h"
#include "stream/helpers.h"

using namespace leveret;
using namespace leveret::cache;
using namespace leveret::stream;
using namespace leveret::stream::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

constexpr std::size_t kMaxLine = 1 << 20;

/// Sums as a ledger of chunks makes them.
class Sums final : public SourceEvents {
  void bytes(std::uint32_t, std::string_view) override {}
  void ended(std::uint32_t) override {}
  std::vector<TextSum> sums(std::uint32_t count) override {
    return std::vector<TextSum>(count, TextSum{7, 8, 9});
  }
};

/// What the text parses to, writing a cache on the way, with sums.
std::string make_cache(const std::vector<std::string>& paths, const std::string& cache,
                       std::size_t chunk_bytes = 256 << 10) {
  text::NamespaceNames names;
  ReaderOptions options;
  options.chunk_bytes = chunk_bytes;
  options.max_line = kMaxLine;
  Sums sums;
  CacheTee tee(
      std::make_unique<ExampleReader>(paths, options, names, text::ParserOptions{}),
      std::make_unique<CacheWriter>(cache, paths, make_cache_key(paths, {}, kMaxLine), names),
      &sums);
  return describe_all(tee, names);
}

std::string read_cache(const std::string& cache) {
  text::NamespaceNames names;
  CacheReader reader(cache, names, nullptr);
  return describe_all(reader, names);
}

/// The message a broken cache ends with, or "" when it reads well; what comes before the fault is
/// checked against `expected`.
std::string fault_of(const std::string& cache, const std::string& expected) {
  text::NamespaceNames names;
  std::string all;
  try {
    CacheReader reader(cache, names, nullptr);
    text::ExampleChunk chunk;
    while (reader.next(chunk)) all += describe(chunk, names);
  } catch (const std::runtime_error& error) {
    CHECK(expected.compare(0, all.size(), all) == 0);
    return error.what();
  }
  CHECK(all == expected);
  return "";
}

/// Lines with every feature of an example: labels or none, importance, initial, tag, several and
/// repeated namespaces, values, empty namespaces, blank lines.
std::string varied_lines(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const auto one_in = [&](unsigned n) { return random() % n == 0; };
    if (one_in(20)) text += one_in(2) ? "\n" : "  \n";
    if (!one_in(10)) {
      text += one_in(3) ? "1" : "-1";
      if (one_in(4)) text += " " + std::to_string(random() % 100 / 8.0);
      if (text.back() != '1' && one_in(2)) text += " 0.25";
    }
    if (one_in(3)) text += " 'tag" + std::to_string(random());
    const std::size_t namespaces = random() % 6;
    for (std::size_t n = 0; n <= namespaces; ++n) {
      text += " |";
      if (!one_in(10)) text += "ns" + std::to_string(random() % 8) + (one_in(8) ? ":0.5" : "");
      const std::size_t features = one_in(2) ? 1 : random() % 7;
      for (std::size_t f = 0; f < features; ++f) {
        text += " f" + std::to_string(random() % (one_in(2) ? 10 : 100000));
        if (one_in(4)) text += ":" + std::to_string(random() % 1000 / 7.0);
      }
    }
    text += "\n";
  }
  return text;
}

/// Lines of click data: namespaces of one feature each, of which some are missing, in any order.
/// One line in `twice` has one of them twice; 0: none has.
std::string plain_lines(std::size_t count, unsigned twice) {
  std::mt19937 random(static_cast<std::uint32_t>(count));
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "1";
    const std::size_t first = random() % 20;
    for (std::size_t n = 0; n < 20; ++n) {
      const std::size_t name = (first + n) % 20;
      // The last ones are rare: nearly all of what was decoded for them is left.
      if (random() % 20 < name) continue;
      text += fmt::format(" |n{} {}", name, random() % (name % 2 ? 10 : 100000));
      if (twice != 0 && random() % twice == 0) text += fmt::format(" |n{} again", name);
    }
    text += "\n";
  }
  return text;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("a cache gives the examples of the text, bit for bit") {
  const TempDir dir;
  const std::string cache = dir.path("cache");
  for (const std::size_t count : {0, 1, 2, 100, 30000}) {
    const std::string text = varied_lines(count, static_cast<std::uint32_t>(count));
    const std::vector<std::string> paths = {dir.write("a", text), dir.write("b", gzip(text)),
                                            dir.write("c", "")};
    const std::string expected = make_cache(paths, cache, count < 1000 ? 300 : 100000);
    CHECK(lines_in(expected) == 2 * count);
    CHECK(read_cache(cache) == expected);
    CHECK(read_cache(cache) == expected);  // another pass
    const CacheInfo info = inspect_cache(cache, true);
    CHECK(info.totals.examples == 2 * count);
    CHECK(info.totals.bad_lines == 0);
    if (count == 30000) CHECK(info.totals.blocks >= 8);
    CHECK(info.key.sources.size() == 3);
  }
}

TEST_CASE("a cache gives plain lines, whether a namespace comes once or not") {
  const TempDir dir;
  const std::string cache = dir.path("cache");
  for (const unsigned twice : {0, 1, 100, 20000}) {
    const std::string expected = make_cache({dir.write("a", plain_lines(15000, twice))}, cache);
    CHECK(read_cache(cache) == expected);
    CHECK(inspect_cache(cache, true).totals.blocks == 4);
  }
}

TEST_CASE("what zstd makes less than half as large is packed") {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 50000; ++i) text += i % 100 ? "1 |a 1 |b 1\n" : "1 |a 2 |b 2\n";
  make_cache({dir.write("a", text)}, dir.path("cache"));
  // A byte for the kind of each example, and for each of its features, before it is packed.
  CHECK(std::filesystem::file_size(dir.path("cache")) < 50000);
}

TEST_CASE("line numbers and counts of what was left out stay") {
  const TempDir dir;
  const std::vector<std::string> paths = {
      dir.write("a",
                "\n\n1 |a b\nbad |a\n-1 |a c\n\n" + std::string(kMaxLine + 1, 'x') + "\n1 |d\n"),
      dir.write("b", "bad\n1 |a b\n")};
  const std::string expected = make_cache(paths, dir.path("cache"));
  CHECK_THAT(expected, Contains("bad 0:4") && Contains("bad 0:7") && Contains("bad 1:1"));
  const std::string cached = read_cache(dir.path("cache"));
  for (const char* at : {"0:3 ", "0:5 ", "0:8 ", "1:2 ", "bad 0:4", "bad 0:7", "bad 1:1"}) {
    CHECK_THAT(cached, Contains(at));
  }
  CHECK(lines_in(cached) == 7);
  const CacheTotals totals = inspect_cache(dir.path("cache"), false).totals;
  CHECK(totals.bad_lines == 3);
  CHECK(totals.blank_lines == 3);
  CHECK(totals.examples == 4);
}

TEST_CASE("examples too large for a shared block get their own") {
  const TempDir dir;
  std::string text = "1 |a b\n1 |a";
  for (int i = 0; i < 300000; ++i) text += " " + std::to_string(i % 1000);
  text += "\n-1 |b c\n1 |a";
  for (int i = 0; i < 200000; ++i) text += " x:" + std::to_string(i % 10 + 1);
  text += "\n1";
  for (int i = 0; i < 200000; ++i) text += " |c d";
  text += "\n";
  text::NamespaceNames names;
  text::Parser parser(names, {});
  text::ExampleChunk chunk;
  chunk.bytes = text;
  parser.parse(chunk);
  const std::vector<std::string> paths = {dir.write("a", text)};
  CacheWriter writer(dir.path("cache"), paths, make_cache_key(paths, {}, kMaxLine), names);
  writer.add(chunk);
  const std::vector<stream::TextSum> sums = {{1, 2, 3}};
  writer.finish(sums);
  CHECK(inspect_cache(dir.path("cache"), true).sums == sums);
  CHECK(writer.totals().blocks == 2);
  CHECK(writer.totals().features == 300000 + 200000 + 200000 + 2);
  CHECK(read_cache(dir.path("cache")) == describe(chunk, names));
}

TEST_CASE("a cache is refused when its source is another") {
  const TempDir dir;
  const std::string cache = dir.path("cache");
  const std::string text = varied_lines(20000, 1);
  const std::string a = dir.write("a", text), b = dir.write("b", "1 |a b\n");
  const std::vector<std::string> paths = {a, b};
  make_cache(paths, cache);
  const auto reason = [&](const std::vector<std::string>& now, text::ParserOptions options = {},
                          std::size_t max_line = kMaxLine) -> std::string {
    const CacheKey key = make_cache_key(now, options, max_line);
    text::NamespaceNames names;
    try {
      CacheReader reader(cache, names, &key);
      return "";
    } catch (const std::runtime_error& error) {
      CHECK_THAT(error.what(), Contains("does not belong to this run") && Contains("delete it"));
      return error.what();
    }
  };
  CHECK(reason(paths).empty());
  CHECK(reason({dir.path("../" + std::filesystem::path(a).parent_path().filename().string() + "/a"),
                b})
            .empty());
  CHECK_THAT(reason({a}), Contains("2 files, not 1"));
  CHECK_THAT(reason({b, a}), Contains("bytes now"));
  CHECK_THAT(reason(paths, {.hash = text::HashMode::kAll}), Contains("--hash strings, not all"));
  CHECK_THAT(reason(paths, {.hash_seed = 7}), Contains("--hash_seed 0, not 7"));
  CHECK_THAT(reason(paths, {}, 100), Contains("--max_line"));
  CHECK_THAT(reason({a, "/dev/null"}), Contains("no regular file"));

  // The same size and time, another byte near the end; then the same bytes, another time.
  struct stat before;
  REQUIRE(stat(a.c_str(), &before) == 0);
  const timespec times[2] = {before.st_atim, before.st_mtim};
  std::string changed = text;
  changed[text.size() - 10] ^= 1;
  dir.write("a", changed);
  REQUIRE(utimensat(AT_FDCWD, a.c_str(), times, 0) == 0);
  CHECK_THAT(reason(paths), Contains("holds other bytes"));
  dir.write("a", text);
  CHECK_THAT(reason(paths), Contains("was written to"));
  REQUIRE(utimensat(AT_FDCWD, a.c_str(), times, 0) == 0);
  CHECK(reason(paths).empty());
}

TEST_CASE("a cache of a pipe serves the run that made it, and no other") {
  const TempDir dir;
  Pipe pipe;
  pipe.write("1 |a b\n");
  pipe.end();
  const std::string expected = make_cache({pipe.path()}, dir.path("cache"));
  CHECK(read_cache(dir.path("cache")) == expected);
  const CacheKey key = make_cache_key({pipe.path()}, {}, kMaxLine);
  text::NamespaceNames names;
  CHECK_THROWS_WITH(CacheReader(dir.path("cache"), names, &key), Contains("no regular file"));
}

TEST_CASE("a cache cut at any length, or longer, is refused") {
  const TempDir dir;
  const std::string cache = dir.path("cache");
  const std::string expected = make_cache({dir.write("a", varied_lines(40, 3))}, cache);
  const std::string good = contents(cache);
  CHECK(fault_of(cache, expected).empty());
  for (std::size_t size = 0; size < good.size(); ++size) {
    dir.write("cut", good.substr(0, size));
    const std::string fault = fault_of(dir.path("cut"), expected);
    CHECK_THAT(fault, Contains("cut: "));
    CHECK_THAT(fault, Contains("delete it") || Contains("not a Leveret cache"));
  }
  dir.write("cut", good + "x");
  CHECK_THAT(fault_of(dir.path("cut"), expected), Contains("something follows"));
  dir.write("cut", good + good);
  CHECK_THAT(fault_of(dir.path("cut"), expected), Contains("broken at byte"));
}

TEST_CASE("any changed byte of a cache is found") {
  const TempDir dir;
  const std::string cache = dir.path("cache");
  const std::string expected = make_cache({dir.write("a", varied_lines(40, 4))}, cache);
  const std::string good = contents(cache);
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int change : {1, 0x80}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ change);
      dir.write("bad", bad);
      CHECK(fault_of(dir.path("bad"), expected) != "");
    }
  }
}

TEST_CASE("a block whose checksum is right but whose content is not is refused or harmless") {
  // A forged cache: each byte of the block changed, the checksum made anew.
  const std::string lines = GENERATE(varied_lines(60, 5), plain_lines(60, 0));
  std::string block;
  text::NamespaceNames names;
  {
    text::Parser parser(names, {});
    text::ExampleChunk chunk;
    chunk.bytes = lines;
    parser.parse(chunk);
    BlockEncoder encoder(names);
    BlockEncoder::At at;
    REQUIRE(encoder.add(chunk, at));
    encoder.finish(block);
  }
  std::size_t refused = 0, tried = 0;
  for (std::size_t at = 0; at < block.size(); ++at) {
    for (const int change : {1, 0x7f, 0x80, 0xff}) {
      std::string bad = block;
      bad[at] = static_cast<char>(bad[at] ^ change);
      text::NamespaceNames new_names;
      BlockDecoder decoder(new_names);
      text::ExampleChunk chunk;
      ++tried;
      try {
        decoder.start(bad);
        while (decoder.next(chunk, 100)) {
          bool sound = true;
          for (const text::Example& example : chunk.examples) {
            sound = sound && example.runs_end <= chunk.runs.size() &&
                    example.tag_begin + std::size_t{example.tag_size} <= chunk.bytes.size();
          }
          for (const text::NamespaceRun& run : chunk.runs) {
            sound = sound && run.begin <= run.end && run.end <= chunk.features.size() &&
                    run.name < new_names.size();
          }
          REQUIRE(sound);
        }
      } catch (const files::BytesReader::BadBytes&) {
        ++refused;
      }
    }
  }
  CHECK(refused > tried / 20);
  CHECK(refused < tried);
  for (std::size_t size = 0; size < block.size(); ++size) {
    text::NamespaceNames new_names;
    BlockDecoder decoder(new_names);
    std::string part = block.substr(0, size);
    CHECK_THROWS_AS(decoder.start(part), files::BytesReader::BadBytes);
    text::ExampleChunk chunk;
    CHECK_FALSE(decoder.next(chunk, 100));
  }
}

TEST_CASE("what is no cache is said to be none") {
  const TempDir dir;
  text::NamespaceNames names;
  const auto open = [&](const std::string& path) { CacheReader(path, names, nullptr); };
  CHECK_THROWS_WITH(open(dir.path("none")), Contains("No such file"));
  CHECK_THROWS_WITH(open(dir.path("")), Contains("no regular file"));
  CHECK_THROWS_WITH(open(dir.write("t", "1 |a b\n")), Contains("not a Leveret cache"));
  CHECK_FALSE(is_cache(dir.path("t")));
  CHECK_FALSE(is_cache(dir.path("none")));
  const std::string cache = dir.path("cache");
  make_cache({dir.path("t")}, cache);
  CHECK(is_cache(cache));
  // And a cache is no text.
  std::string error;
  drain(*open_source(cache), &error);
  CHECK_THAT(error, Contains("a Leveret cache"));
  std::string newer = contents(cache);
  newer[8] = 9;
  CHECK_THROWS_WITH(open(dir.write("newer", newer)), Contains("version 9"));
}

TEST_CASE("a cache appears only when the stream has ended well") {
  const TempDir dir;
  const std::string cache = dir.path("cache");
  const std::string a = dir.write("a", varied_lines(20000, 6));
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(dir.path("")), {});
  };
  const auto tee = [&](const std::string& path, text::NamespaceNames& names) {
    return std::make_unique<CacheTee>(
        std::make_unique<ExampleReader>(std::vector{path}, ReaderOptions{.chunk_bytes = 1000},
                                        names, text::ParserOptions{}),
        std::make_unique<CacheWriter>(cache, std::vector{path},
                                      make_cache_key({path}, {}, kMaxLine), names));
  };
  text::NamespaceNames names;
  text::ExampleChunk chunk;
  {
    const auto abandoned = tee(a, names);
    CHECK(abandoned->next(chunk));
  }
  CHECK(files() == 1);
  {
    const auto stopped = tee(a, names);
    CHECK(stopped->next(chunk));
    stopped->stop();
    while (stopped->next(chunk)) {
    }
  }
  CHECK(files() == 1);
  const std::string cut = dir.write("cut.gz", gzip(varied_lines(1000, 7)).substr(0, 5000));
  {
    const auto broken = tee(cut, names);
    CHECK_THROWS([&] {
      while (broken->next(chunk)) {
      }
    }());
  }
  CHECK(files() == 2);
  {
    const auto changed = tee(a, names);
    CHECK(changed->next(chunk));
    std::ofstream(a, std::ios::app) << "1 |a b\n";
    CHECK_THROWS_WITH(
        [&] {
          while (changed->next(chunk)) {
          }
        }(),
        Contains("was changed while the cache"));
  }
  CHECK(files() == 2);
  CHECK_THROWS_WITH(CacheWriter(dir.path("no/cache"), {a}, make_cache_key({a}, {}, 1), names),
                    Contains("cannot make a temporary file"));
}

TEST_CASE("a cache that cannot be written is an error, and leaves nothing") {
  const TempDir dir;
  const std::string a = dir.write("a", varied_lines(3000, 8)), cache = dir.path("cache");
  int at = 0;
  for (bool failed = true; failed; ++at) {
    const leveret::files::Faults faults(leveret::files::Fault::kNoSpace, at);
    try {
      make_cache({a}, cache);
      failed = false;
    } catch (const std::runtime_error& error) {
      CHECK_THAT(error.what(), Contains("cache: cannot") && Contains("free some space"));
    }
    for (const auto& item : std::filesystem::directory_iterator(dir.path(""))) {
      CHECK_THAT(item.path().filename().string(), Equals("a") || Equals("cache"));
    }
    // The folder is forced to the disk last: the cache is whole then.
    if (std::filesystem::exists(cache)) CHECK(inspect_cache(cache, true).totals.examples == 3000);
    std::filesystem::remove(cache);
  }
  CHECK(at > 4);
}

TEST_CASE("a cache reader that is not read to its end goes away") {
  const TempDir dir;
  const std::string cache = dir.path("cache");
  make_cache({dir.write("a", varied_lines(50000, 8))}, cache);
  for (int i = 0; i < 20; ++i) {
    text::NamespaceNames names;
    CacheReader untouched(cache, names, nullptr);
    CacheReader begun(cache, names, nullptr);
    text::ExampleChunk chunk;
    CHECK(begun.next(chunk));
    CacheReader stopped(cache, names, nullptr);
    CHECK(stopped.next(chunk));
    stopped.stop();
    std::size_t left = 0;
    while (stopped.next(chunk)) ++left;
    CHECK(left <= 3);
  }
}

TEST_CASE("a cache is much smaller than its text") {
  // 39 namespaces of one feature each, 13 of few values, 26 Zipf-like: the shape of Criteo.
  std::mt19937 random(9);
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += i % 4 ? "-1" : "1";
    for (int field = 0; field < 39; ++field) {
      const double u = random() / 4294967296.0;
      const auto distinct = field < 13 ? 12 : 1 << (field - 12) % 20;
      const auto value = static_cast<std::uint32_t>(u * u * u * u * distinct);
      text += fmt::format(" |{} {:x}", static_cast<char>('A' + field), value * 2654435761u);
    }
    text += "\n";
  }
  const TempDir dir;
  make_cache({dir.write("a", text)}, dir.path("cache"));
  CHECK(std::filesystem::file_size(dir.path("cache")) < text.size() * 187 / 383);
}
