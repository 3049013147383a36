/// Which chunks a model has learned. A chunk is what one source gave from its start to its end: a
/// file, a pipe, standard input. It is known by its bytes as text, unpacked: packed, renamed or
/// from another place it is the same chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/checksum.h"
#include "stream/source_events.h"
#include "stream/stop_flag.h"

namespace leveret::train {

struct ChunkHash {
  /// Bytes that `head` is of, or all where there are fewer.
  static constexpr std::uint64_t kHeadBytes = 64 << 10;

  store::Checksum content = {};
  std::uint64_t head = 0;  ///< of the first bytes: most other chunks are told apart by these

  bool operator==(const ChunkHash&) const = default;
  stream::TextSum to_sum() const { return {content.low, content.high, head}; }
  static ChunkHash of_sum(const stream::TextSum& sum) { return {{sum.low, sum.high}, sum.head}; }
};

/// Adds up the bytes of a chunk, which come in parts.
class ChunkHasher {
 public:
  void add(std::string_view bytes);
  ChunkHash get() const;
  std::uint64_t bytes() const { return bytes_; }

 private:
  store::Checksummer content_, head_;
  std::uint64_t bytes_ = 0;
};

/// The last of those that were learned, in the order in which they were. One thread.
class ChunkLedger {
 public:
  static constexpr std::size_t kMost = 4096;

  bool has(const ChunkHash& chunk) const;
  bool has_head(std::uint64_t head) const;
  bool empty() const { return chunks_.empty(); }
  /// Becomes the last one; the first goes when there are more than kMost.
  void add(const ChunkHash& chunk);
  const std::vector<ChunkHash>& chunks() const { return chunks_; }

 private:
  std::vector<ChunkHash> chunks_;
};

/// The hash of what a source will give, by reading it: all of it, or just its head where `ledger`
/// has no chunk that begins so. Nothing when the ledger does not have it, when it is empty, when it
/// cannot be read twice (a pipe, a terminal), or cannot be read: that is for its real reading to
/// report. `path` "-" is standard input, which stays where it is. `stop`, when given, ends the
/// reading.
std::optional<ChunkHash> find_learned(const ChunkLedger& ledger, const std::string& path,
                                      const stream::StopFlag* stop = nullptr);

/// The hash of what the file gives, read to its end; nothing when it is empty, is no regular file
/// or cannot be read, and when it was stopped.
std::optional<ChunkHash> hash_of_file(const std::string& path, const stream::StopFlag* stop);

}  // namespace leveret::train
