/// Which chunks a model has learned. A chunk is what one source gave from its start to its end: a
/// file, a pipe, standard input. It is known by its bytes as text, unpacked: packed, renamed or
/// from another place it is the same chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/checksum.h"
#include "stream/source_events.h"
#include "stream/stop_flag.h"

namespace leveret::train {

struct ChunkHash {
  /// Bytes that `head` is of, or all where there are fewer.
  static constexpr std::uint64_t kHeadBytes = 64 << 10;

  std::uint64_t content = 0;  ///< the low half of the checksum of all bytes
  std::uint64_t bytes = 0;
  std::uint64_t head = 0;  ///< of the first bytes: most other chunks are told apart by these

  bool operator==(const ChunkHash&) const = default;
  stream::TextSum to_sum() const { return {content, bytes, head}; }
  static ChunkHash of_sum(const stream::TextSum& sum) { return {sum.content, sum.bytes, sum.head}; }
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

/// All that were learned, in the order in which they were. One thread.
class ChunkLedger {
 public:
  /// A chunk as a model's file has it, in 16 bytes.
  struct Entry {
    std::uint64_t content = 0;
    std::uint32_t head = 0;   ///< the low half
    std::uint32_t bytes = 0;  ///< 0: not known, as in files before 0.1.0, or 2^32 and more

    bool operator==(const Entry&) const = default;
  };
  static Entry entry_of(const ChunkHash& chunk);

  bool has(const ChunkHash& chunk) const { return has_entry(entry_of(chunk)); }
  bool has_entry(const Entry& entry) const;
  bool empty() const { return entries_.empty(); }
  /// Nothing where it has the chunk.
  void add(const ChunkHash& chunk) { add_entry(entry_of(chunk)); }
  void add_entry(const Entry& entry);
  const std::vector<Entry>& entries() const { return entries_; }

  /// The ends of chunks that begin so, in bytes. Null: none begins so.
  const std::set<std::uint32_t>* ends_of_head(std::uint64_t head) const;
  /// The ends of chunks that are not longer than a head.
  const std::set<std::uint32_t>& short_ends() const { return short_ends_; }
  /// Whether a chunk of so many bytes may be among them.
  bool may_have_bytes(std::uint64_t bytes) const;

 private:
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::uint32_t> heads_of_content_;
  std::unordered_map<std::uint32_t, std::set<std::uint32_t>> ends_of_head_;
  std::set<std::uint32_t> short_ends_, all_ends_;  ///< all_ends_: 0 where one is not known
};

/// The outcome of looking for a source in a ledger.
struct LedgerFind {
  std::optional<ChunkHash> learned;  ///< the source, where the ledger has it
  /// Else the bytes of the longest chunk of the ledger with which it begins; 0: with none. A file
  /// that has grown since it was learned begins so.
  std::uint64_t begins_with = 0;
};

/// By reading what a source will give: all of it, or just its head where `ledger` has no chunk that
/// begins so. Finds nothing when it is empty, when it cannot be read twice (a pipe, a terminal), or
/// cannot be read: that is for its real reading to report. `path` "-" is standard input, which
/// stays where it is. `stop`, when given, ends the reading.
LedgerFind find_learned(const ChunkLedger& ledger, const std::string& path,
                        const stream::StopFlag* stop = nullptr);

/// The hash of what the file gives, read to its end; nothing when it is empty, is no regular file
/// or cannot be read, and when it was stopped.
std::optional<ChunkHash> hash_of_file(const std::string& path, const stream::StopFlag* stop);

}  // namespace leveret::train
