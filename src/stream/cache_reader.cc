#include "stream/cache_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "stream/cache_block.h"
#include "stream/cache_file.h"
#include "stream/text_reader.h"
#include "text/namespace_number.h"

namespace leveret::stream {
namespace {

/// Features of a chunk: with their runs it stays within a core's own cache.
constexpr std::size_t kChunkFeatures = 1 << 13;

}  // namespace

/// The blocks of a cache, decoded chunk by chunk, and that they add up to the totals.
class CacheReader::Blocks {
 public:
  Blocks(const std::string& path, text::NamespaceNames& names,
         const std::vector<std::string>& numbers)
      : file_(path), decoder_(names) {
    for (const std::string& space : file_.info().key.numbers) {
      if (std::find(numbers.begin(), numbers.end(), space) != numbers.end()) continue;
      if (const auto id = names.intern(text::number_run_name(space))) unwanted_.insert(*id);
    }
  }

  const CacheInfo& info() const { return file_.info(); }
  std::uint64_t offset() const { return file_.offset(); }

  bool next(text::ExampleChunk& chunk) {
    while (!decoder_.next(chunk, kChunkFeatures)) {
      if (!start_block()) return false;
    }
    if (!unwanted_.empty()) leave_out_unwanted(chunk);
    return true;
  }

 private:
  void leave_out_unwanted(text::ExampleChunk& chunk) const {
    std::uint32_t runs = 0, features = 0;
    for (text::Example& example : chunk.examples) {
      const std::uint32_t first = runs;
      for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
        const text::NamespaceRun run = chunk.runs[r];
        if (unwanted_.contains(run.name)) continue;
        const std::uint32_t begin = features;
        for (std::uint32_t f = run.begin; f < run.end; ++f) {
          chunk.features[features++] = chunk.features[f];
        }
        chunk.runs[runs++] = {run.name, run.hash, begin, features};
      }
      example.runs_begin = first;
      example.runs_end = runs;
    }
    chunk.runs.resize(runs);
    chunk.features.resize(features);
  }

  bool start_block() {
    std::string_view block;
    if (!file_.next(block)) {
      const CacheTotals& totals = file_.info().totals;
      if (examples_ != totals.examples || features_ != totals.features) {
        file_.fail_block("its totals differ from what it holds");
      }
      return false;
    }
    try {
      decoder_.start(block);
    } catch (const BytesReader::BadBytes& bad) {
      file_.fail_block(bad.what());
    }
    if (decoder_.source() >= file_.info().key.sources.size()) {
      file_.fail_block("a block is of an unknown source");
    }
    examples_ += decoder_.examples();
    features_ += decoder_.features();
    return true;
  }

  CacheFile file_;
  BlockDecoder decoder_;
  std::unordered_set<std::uint32_t> unwanted_;  ///< names of runs
  std::uint64_t examples_ = 0, features_ = 0;
};

CacheReader::CacheReader(const std::string& path, text::NamespaceNames& names,
                         const CacheKey* expected, const std::vector<std::string>& numbers,
                         std::size_t chunks_ahead)
    : blocks_(std::make_unique<Blocks>(path, names, numbers)),
      queue_(std::max<std::size_t>(1, chunks_ahead), ReaderOptions{}.bytes_ahead()) {
  info_ = blocks_->info();
  if (expected) {
    const std::string reason = cache_mismatch(info_.key, *expected);
    if (!reason.empty()) {
      throw std::runtime_error(fmt::format(
          "{}: the cache does not belong to this run: {}; delete it, and it is made anew, or give "
          "another --cache",
          path, reason));
    }
  }
  thread_ = std::thread([this] { run(); });
}

CacheReader::~CacheReader() {
  queue_.cancel();
  thread_.join();
}

void CacheReader::run() {
  try {
    text::ExampleChunk chunk;
    while (!stopped_ && blocks_->next(chunk)) {
      bytes_read_ = blocks_->offset();
      if (!queue_.push(chunk, chunk.size_bytes())) return;
    }
    if (!stopped_) bytes_read_ = info_.file_bytes;
    queue_.close();
  } catch (...) {
    queue_.fail(std::current_exception());
  }
}

bool is_cache(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  char start[kCacheMagic.size()];
  const ssize_t got = pread(fd, start, sizeof start, 0);
  close(fd);
  return got == sizeof start && std::string_view(start, sizeof start) == kCacheMagic;
}

CacheInfo inspect_cache(const std::string& path, bool verify) {
  if (!verify) return CacheFile(path).info();
  text::NamespaceNames names;
  CacheReader reader(path, names, nullptr);
  text::ExampleChunk chunk;
  while (reader.next(chunk)) {
  }
  return reader.info();
}

}  // namespace leveret::stream
