/// Reads a cache in place of the text it was made from.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stream/cache_format.h"
#include "stream/cache_key.h"
#include "stream/example_source.h"
#include "stream/queue.h"
#include "text/namespace_names.h"

namespace leveret::stream {

/// What stands in a cache besides the examples.
struct CacheInfo {
  CacheKey key;
  CacheTotals totals;
  std::uint64_t file_bytes = 0;
};

/// Reads and unpacks in a thread of its own. Make a new one for each pass. Errors are
/// std::runtime_error with the file, what is wrong and what to do; a fault in the middle comes
/// after the examples of the blocks before it.
class CacheReader final : public ExampleSource {
 public:
  /// Throws unless the file is a whole cache that was made with `expected`; null: with anything
  /// (the cache that this run has just made). `names` must outlive the reader. Of the numbers that
  /// the cache has, those of the namespaces `numbers` are handed out.
  CacheReader(const std::string& path, text::NamespaceNames& names, const CacheKey* expected,
              const std::vector<std::string>& numbers = {}, std::size_t chunks_ahead = 8);
  ~CacheReader() override;
  CacheReader(const CacheReader&) = delete;
  CacheReader& operator=(const CacheReader&) = delete;

  /// Chunks hold examples, their lines' numbers and tags, no other text and no bad lines.
  bool next(text::ExampleChunk& chunk) override {
    chunk.free_large();
    return queue_.pop(chunk);
  }
  void stop() noexcept override { stopped_ = true; }
  const std::string& source_name(std::uint32_t source) const override {
    return info_.key.sources.at(source).name;
  }
  std::uint64_t bytes_read() const override { return bytes_read_; }
  std::optional<std::uint64_t> bytes_total() const override { return info_.file_bytes; }
  const CacheInfo& info() const { return info_; }

 private:
  class Blocks;

  void run();

  CacheInfo info_;
  std::unique_ptr<Blocks> blocks_;
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> bytes_read_{0};
  BoundedQueue<text::ExampleChunk> queue_;
  std::thread thread_;  // last: it uses all of the above
};

/// Whether `path` begins as a cache does (of any version).
bool is_cache(const std::string& path);
/// What is in a cache. With `verify` every block is unpacked and checked. Throws as CacheReader.
CacheInfo inspect_cache(const std::string& path, bool verify);

}  // namespace leveret::stream
