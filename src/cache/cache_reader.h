/// Reads a cache in place of the text it was made from.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cache/cache_blocks.h"
#include "stream/example_source.h"
#include "stream/queue.h"
#include "text/namespace_names.h"

namespace leveret::cache {

/// A thread of its own reads, unpacks and checks blocks ahead; whoever takes chunks decodes them,
/// and several take them from as many blocks, as long as there are enough. Make a new one for each
/// pass. Errors are std::runtime_error with the file, what is wrong and what to do. A single
/// consumer gets the error after all earlier examples; of several one may hear of it while others
/// still take those.
class CacheReader final : public stream::ExampleSource {
 public:
  /// Throws unless the file is a whole cache that was made with `expected`; null: with anything
  /// (the cache that this run has just made). `names` must outlive the reader. It hands
  /// out the cache's numbers of the namespaces `numbers`, and no others.
  CacheReader(const std::string& path, text::NamespaceNames& names, const CacheKey* expected,
              const std::vector<std::string>& numbers = {});
  ~CacheReader() override;
  CacheReader(const CacheReader&) = delete;
  CacheReader& operator=(const CacheReader&) = delete;

  /// Chunks hold examples, their lines' numbers and tags, and the places of bad lines; no other
  /// text.
  bool next(text::ExampleChunk& chunk) override;
  /// Chunks that are not decoded yet are not handed out, either.
  void stop() noexcept override { stopped_ = true; }
  const std::string& source_name(std::uint32_t source) const override {
    return info().key.sources.at(source).name;
  }
  std::uint64_t bytes_read() const override { return bytes_read_; }
  std::optional<std::uint64_t> bytes_total() const override { return info().file_bytes; }
  const CacheInfo& info() const { return blocks_.info(); }

 private:
  using BlockPointer = std::unique_ptr<CacheBlock>;

  void run();
  BlockPointer unused();
  BlockPointer take();
  void give_back(BlockPointer block, bool more);

  text::NamespaceNames& names_;
  CacheBlocks blocks_;
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> bytes_read_{0};
  stream::BoundedQueue<BlockPointer> queue_;  ///< of blocks not begun

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable given_back_;
  std::vector<BlockPointer> begun_;    ///< nobody takes a chunk from them just now
  std::vector<BlockPointer> used_up_;  ///< their memory is for the next blocks
  unsigned taking_ = 0;                ///< consumers that take a chunk, or wait for a block

  std::thread thread_;  // last: it uses all of the above
};

/// Whether `path` begins as a cache does (of any version).
bool is_cache(const std::string& path);
/// The content of a cache. With `verify` every block is unpacked and checked. Throws as
/// CacheReader.
CacheInfo inspect_cache(const std::string& path, bool verify);

}  // namespace leveret::cache
