/// A cache file block by block, with all its checks. Internal to the cache's readers.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <string>

#include "cache/cache_key.h"

namespace leveret::cache {

/// Not thread safe. Errors are std::runtime_error naming the file and the byte.
class CacheFile {
 public:
  /// Opens the file and checks its header and its end.
  explicit CacheFile(const std::string& path);
  ~CacheFile();
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;

  const CacheInfo& info() const { return info_; }
  /// Replaces `block` by the next one, unpacked. False after the last.
  bool next(std::string& block);
  /// Where the block last given begins, or the next one where none was.
  std::uint64_t offset() const { return block_offset_; }
  /// Reports what a block holds as a fault of the file.
  [[noreturn]] void fail_block(const char* what) const;

 private:
  void read_header();
  void read_end();
  void read_sums(std::uint32_t count);
  void read_at(std::uint64_t offset, std::size_t size, std::string& to) const;
  void unpack(std::uint64_t unpacked_size, std::string& block);
  [[noreturn]] void fail(std::uint64_t offset, const char* what) const;

  std::string path_;
  int fd_ = -1;
  CacheInfo info_;
  std::uint64_t blocks_end_ = 0;   ///< where the sums or the end marker begin
  std::uint64_t next_offset_ = 0;  ///< of the block to be read next
  std::uint64_t block_offset_ = 0;
  std::uint64_t blocks_ = 0;
  std::string header_, packed_;
  ZSTD_DCtx* context_ = nullptr;
};

}  // namespace leveret::cache
