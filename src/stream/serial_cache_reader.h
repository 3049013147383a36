/// Reads a cache in place of the text it was made from, without a thread: see SerialReader.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "stream/cache_blocks.h"
#include "stream/example_source.h"

namespace leveret::stream {

class SerialCacheReader final : public ExampleSource {
 public:
  /// As CacheReader's.
  SerialCacheReader(const std::string& path, text::NamespaceNames& names, const CacheKey* expected,
                    const std::vector<std::string>& numbers = {})
      : blocks_(path, names, expected, numbers), block_(names) {}

  bool next(text::ExampleChunk& chunk) override {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    chunk.free_large();
    try {
      while (!stopped_) {
        if (blocks_.decode(block_, chunk)) return true;
        if (!blocks_.next(block_)) break;
        bytes_read_ = block_.offset;
      }
    } catch (...) {
      error_ = std::current_exception();
      throw;
    }
    if (!stopped_) bytes_read_ = blocks_.info().file_bytes;
    return false;
  }
  void stop() noexcept override { stopped_ = true; }
  const std::string& source_name(std::uint32_t source) const override {
    return blocks_.info().key.sources.at(source).name;
  }
  std::uint64_t bytes_read() const override { return bytes_read_; }
  std::optional<std::uint64_t> bytes_total() const override { return blocks_.info().file_bytes; }
  const CacheInfo* cache() const override { return &blocks_.info(); }

 private:
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> bytes_read_{0};
  std::mutex mutex_;  ///< guards what follows, but blocks_.info()
  CacheBlocks blocks_;
  CacheBlock block_;  ///< a new one is at its end
  std::exception_ptr error_;
};

}  // namespace leveret::stream
