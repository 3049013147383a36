#include "stream/cache_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "stream/cache_block.h"
#include "stream/cache_file.h"
#include "text/namespace_number.h"

namespace leveret::stream {
namespace {

/// Features of a chunk: with their runs it stays within a core's own cache.
constexpr std::size_t kChunkFeatures = 1 << 13;

/// Another one is being unpacked meanwhile.
constexpr std::size_t kBlocksAhead = 1;

}  // namespace

struct CacheReader::Block {
  explicit Block(text::NamespaceNames& names) : decoder(names) {}

  BlockDecoder decoder;
  std::uint64_t offset = 0;  ///< in the file
};

/// The blocks of a cache, checked, and that they add up to the totals.
class CacheReader::Blocks {
 public:
  Blocks(const std::string& path, text::NamespaceNames& names,
         const std::vector<std::string>& numbers)
      : file_(path) {
    for (const std::string& space : file_.info().key.numbers) {
      if (std::find(numbers.begin(), numbers.end(), space) != numbers.end()) continue;
      if (const auto id = names.intern(text::number_run_name(space))) unwanted_.insert(*id);
    }
  }

  const CacheInfo& info() const { return file_.info(); }

  /// The next block, ready to be decoded. False after the last.
  bool next(Block& block) {
    if (!file_.next(bytes_)) {
      const CacheTotals& totals = file_.info().totals;
      if (examples_ != totals.examples || features_ != totals.features) {
        file_.fail_block("its totals differ from what it holds");
      }
      return false;
    }
    try {
      block.decoder.start(bytes_);
    } catch (const BytesReader::BadBytes& bad) {
      file_.fail_block(bad.what());
    }
    if (block.decoder.source() >= file_.info().key.sources.size()) {
      file_.fail_block("a block is of an unknown source");
    }
    block.offset = file_.offset();
    examples_ += block.decoder.examples();
    features_ += block.decoder.features();
    return true;
  }

  /// For any thread.
  bool decode(Block& block, text::ExampleChunk& chunk) const {
    if (!block.decoder.next(chunk, kChunkFeatures)) return false;
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

  CacheFile file_;
  std::string bytes_;                           ///< of the next block
  std::unordered_set<std::uint32_t> unwanted_;  ///< names of runs
  std::uint64_t examples_ = 0, features_ = 0;
};

CacheReader::CacheReader(const std::string& path, text::NamespaceNames& names,
                         const CacheKey* expected, const std::vector<std::string>& numbers)
    : names_(names), blocks_(std::make_unique<Blocks>(path, names, numbers)), queue_(kBlocksAhead) {
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
    while (!stopped_) {
      BlockPointer block = unused();
      if (!blocks_->next(*block) || !queue_.push(block)) break;
    }
    queue_.close();
  } catch (...) {
    queue_.fail(std::current_exception());
  }
}

CacheReader::BlockPointer CacheReader::unused() {
  const std::lock_guard lock(mutex_);
  if (used_up_.empty()) return std::make_unique<Block>(names_);
  BlockPointer block = std::move(used_up_.back());
  used_up_.pop_back();
  return block;
}

bool CacheReader::next(text::ExampleChunk& chunk) {
  chunk.free_large();
  while (!stopped_) {
    BlockPointer block = take();
    if (!block) break;
    bool more = false;
    try {
      more = blocks_->decode(*block, chunk);
    } catch (...) {
      give_back(nullptr, false);
      throw;
    }
    if (block->offset > bytes_read_) bytes_read_ = block->offset;
    give_back(std::move(block), more);
    if (more) return true;
  }
  if (!stopped_) bytes_read_ = info_.file_bytes;
  return false;
}

/// A block that has more to hand out, unless it is used up just now: one that was begun before, or
/// else the next. Null: there is none left, and nobody is left who may give one back.
CacheReader::BlockPointer CacheReader::take() {
  BlockPointer block;
  std::unique_lock lock(mutex_);
  ++taking_;
  if (begun_.empty()) {
    lock.unlock();
    try {
      if (queue_.pop(block)) return block;
    } catch (...) {
      give_back(nullptr, false);
      throw;
    }
    lock.lock();
    --taking_;
    given_back_.notify_all();
    given_back_.wait(lock, [this] { return !begun_.empty() || taking_ == 0; });
    if (begun_.empty()) return nullptr;
    ++taking_;
  }
  block = std::move(begun_.back());
  begun_.pop_back();
  return block;
}

/// Ends a `take`.
void CacheReader::give_back(BlockPointer block, bool more) {
  const std::lock_guard lock(mutex_);
  --taking_;
  given_back_.notify_all();
  if (block) (more ? begun_ : used_up_).push_back(std::move(block));
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
