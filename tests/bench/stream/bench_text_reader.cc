// Bytes/s of reading and cutting alone: a learner is never to wait for it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "stream/text_reader.h"

namespace {

using namespace leveret;

/// 128 MB of lines of `length` bytes, plain or as zstd, for the time of one benchmark.
class TextFile {
 public:
  TextFile(std::size_t length, bool packed)
      : path_(std::filesystem::temp_directory_path() / fmt::format("bench-text-{}", getpid())) {
    std::string text;
    for (std::size_t i = 0; text.size() < 128 << 20; ++i) {
      const std::string start = fmt::format("1 |a {:x} |b {:x}", i, i * 2654435761u);
      text += start.substr(0, length - 1);
      text.append(length - 1 - std::min(length - 1, start.size()), 'x');
      text += '\n';
    }
    if (packed) {
      std::string out(ZSTD_compressBound(text.size()), '\0');
      out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
      text.swap(out);
    }
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

void read_text(benchmark::State& state) {
  const TextFile file(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  std::int64_t bytes = 0;
  for (auto _ : state) {
    stream::TextReader reader({file.path()}, {});
    text::ExampleChunk chunk;
    while (reader.next(chunk)) bytes += static_cast<std::int64_t>(chunk.bytes.size());
  }
  state.SetBytesProcessed(bytes);
}
BENCHMARK(read_text)
    ->ArgNames({"line", "zstd"})
    ->ArgsProduct({{20, 383, 10000}, {0, 1}})
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
