/// The examples of a cache file, block by block. Internal to the cache's readers.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "cache/cache_block.h"
#include "cache/cache_file.h"
#include "text/namespace_names.h"

namespace leveret::cache {

/// A block that is read; its memory is used again for the next one.
struct CacheBlock {
  explicit CacheBlock(text::NamespaceNames& names) : decoder(names) {}

  std::string bytes;
  BlockDecoder decoder;      ///< of `bytes`
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t number = 0;  ///< counted from 0
};

/// Checks each block, and that they add up to the totals. Errors as CacheReader's.
class CacheBlocks {
 public:
  /// As CacheReader's constructor.
  CacheBlocks(const std::string& path, text::NamespaceNames& names, const CacheKey* expected,
              const std::vector<std::string>& numbers);

  const CacheInfo& info() const { return file_.info(); }
  /// Replaces `block` by the next one, ready to be decoded. False after the last. Not thread safe.
  bool next(CacheBlock& block);
  /// The next examples of a block; false at its end. Threads may decode different blocks.
  bool decode(CacheBlock& block, text::ExampleChunk& chunk) const;

 private:
  void leave_out_unwanted(text::ExampleChunk& chunk) const;

  CacheFile file_;
  std::unordered_set<std::uint32_t> unwanted_;  ///< names of runs
  CacheTotals read_;                            ///< so far
};

}  // namespace leveret::cache
