#include "cache/cache_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "cache/cache_format.h"

namespace leveret::cache {
namespace {

/// Another one is being unpacked meanwhile.
constexpr std::size_t kBlocksAhead = 1;

}  // namespace

CacheReader::CacheReader(const std::string& path, text::NamespaceNames& names,
                         const CacheKey* expected, const std::vector<std::string>& numbers)
    : names_(names), blocks_(path, names, expected, numbers), queue_(kBlocksAhead) {
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
      if (!blocks_.next(*block) || !queue_.push(block)) break;
    }
    queue_.close();
  } catch (...) {
    queue_.fail(std::current_exception());
  }
}

CacheReader::BlockPointer CacheReader::unused() {
  const std::lock_guard lock(mutex_);
  if (used_up_.empty()) return std::make_unique<CacheBlock>(names_);
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
      more = blocks_.decode(*block, chunk);
    } catch (...) {
      give_back(nullptr, false);
      throw;
    }
    if (block->offset > bytes_read_) bytes_read_ = block->offset;
    give_back(std::move(block), more);
    if (more) return true;
  }
  if (!stopped_) bytes_read_ = info().file_bytes;
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
  // The first one of the stream: who writes in order what threads do may wait for it (Answers).
  const auto first = std::min_element(
      begun_.begin(), begun_.end(),
      [](const BlockPointer& a, const BlockPointer& b) { return a->number < b->number; });
  block = std::move(*first);
  begun_.erase(first);
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

}  // namespace leveret::cache
