// The cache beside the text it replaces: size, and examples/s of writing and reading it.
//
// LEVERET_BENCH_VW=FILE measures on that file; else on generated lines of Criteo's shape: 13 fields
// of few values and 26 Zipf-like ones.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "cache/cache_block.h"
#include "cache/cache_file.h"
#include "cache/cache_reader.h"
#include "cache/cache_tee.h"
#include "stream/example_reader.h"

namespace {

using namespace leveret;
using namespace leveret::cache;
using namespace leveret::stream;

constexpr std::size_t kMaxLine = 64 << 20;

void write_generated(const std::string& path, int lines) {
  std::mt19937_64 random(1);
  std::ofstream file(path, std::ios::binary);
  std::string line;
  for (int i = 0; i < lines; ++i) {
    line = i % 4 ? "-1" : "1";
    for (int field = 0; field < 39; ++field) {
      const double u = static_cast<double>(random() >> 11) / 9007199254740992.0;
      // Inverse of a Zipf-like law (exponent 1) over `distinct` values.
      const double distinct = field < 13 ? 12 : std::pow(10.0, 1 + (field - 13) % 6);
      const auto rank = static_cast<std::uint64_t>(std::pow(distinct, u));
      line += fmt::format(" |{} {:08x}", static_cast<char>(field < 26 ? 'A' + field : 'a' + field),
                          static_cast<std::uint32_t>(rank * 2654435761u + field));
    }
    line += '\n';
    file << line;
  }
}

/// The text and its cache, made once.
struct Files {
  Files() {
    const char* given = std::getenv("LEVERET_BENCH_VW");
    folder = std::filesystem::temp_directory_path() / fmt::format("bench-cache-{}", getpid());
    std::filesystem::create_directory(folder);
    text = given ? std::string(given) : (folder / "text").string();
    cache = (folder / "cache").string();
    if (!given) write_generated(text, 200000);
  }
  ~Files() { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  std::string text, cache;
};

const Files& files() {
  static const Files instance;
  return instance;
}

void make_cache() {
  text::NamespaceNames names;
  ReaderOptions options;
  CacheTee tee(std::make_unique<ExampleReader>(std::vector{files().text}, options, names,
                                               text::ParserOptions{}),
               std::make_unique<CacheWriter>(files().cache, std::vector{files().text},
                                             make_cache_key({files().text}, {}, kMaxLine), names));
  text::ExampleChunk chunk;
  while (tee.next(chunk)) benchmark::DoNotOptimize(chunk.features.data());
}

void set_rate(benchmark::State& state, std::uint64_t examples) {
  state.counters["examples/s"] =
      benchmark::Counter(static_cast<double>(examples), benchmark::Counter::kIsRate);
}

void parse_text(benchmark::State& state) {
  std::uint64_t examples = 0;
  for (auto _ : state) {
    text::NamespaceNames names;
    ExampleReader reader({files().text}, {}, names, {});
    text::ExampleChunk chunk;
    while (reader.next(chunk)) examples += chunk.examples.size();
  }
  set_rate(state, examples);
}
BENCHMARK(parse_text)->UseRealTime()->Unit(benchmark::kMillisecond);

void write_cache(benchmark::State& state) {
  std::uint64_t examples = 0;
  for (auto _ : state) {
    make_cache();
    examples += inspect_cache(files().cache, false).totals.examples;
  }
  set_rate(state, examples);
  const auto text_bytes = static_cast<double>(std::filesystem::file_size(files().text));
  const auto cache_bytes = static_cast<double>(std::filesystem::file_size(files().cache));
  state.counters["text_MB"] = text_bytes / 1e6;
  state.counters["cache_MB"] = cache_bytes / 1e6;
  state.counters["ratio"] = cache_bytes / text_bytes;
}
BENCHMARK(write_cache)->UseRealTime()->Unit(benchmark::kMillisecond);

/// Checksums and zstd alone.
void unpack_blocks(benchmark::State& state) {
  if (!is_cache(files().cache)) make_cache();
  std::uint64_t examples = 0, bytes = 0;
  for (auto _ : state) {
    CacheFile file(files().cache);
    std::string block;
    while (file.next(block)) bytes += block.size();
    examples += file.info().totals.examples;
  }
  set_rate(state, examples);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(unpack_blocks)->Unit(benchmark::kMillisecond);

/// All that stands between the file and the learner, in one thread.
void decode_cache(benchmark::State& state) {
  if (!is_cache(files().cache)) make_cache();
  std::uint64_t examples = 0;
  for (auto _ : state) {
    text::NamespaceNames names;
    CacheFile file(files().cache);
    BlockDecoder decoder(names);
    text::ExampleChunk chunk;
    std::string block;
    while (file.next(block)) {
      decoder.start(block);
      while (decoder.next(chunk, 1 << 14)) examples += chunk.examples.size();
    }
  }
  set_rate(state, examples);
}
BENCHMARK(decode_cache)->Unit(benchmark::kMillisecond);

/// As a learner reads it, at no cost of its own.
void read_cache(benchmark::State& state) {
  if (!is_cache(files().cache)) make_cache();
  std::uint64_t examples = 0;
  for (auto _ : state) {
    text::NamespaceNames names;
    CacheReader reader(files().cache, names, nullptr);
    text::ExampleChunk chunk;
    while (reader.next(chunk)) examples += chunk.examples.size();
  }
  set_rate(state, examples);
}
BENCHMARK(read_cache)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
