/// Hashes the sources of a stream while they are read, so that what has been learned can be noted.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "stream/source_events.h"
#include "train/chunk_ledger.h"

namespace leveret::train {

/// The reader tells it; any thread may ask.
class ChunkWatch final : public stream::SourceEvents {
 public:
  void bytes(std::uint32_t source, std::string_view bytes) override;
  void ended(std::uint32_t source) override { end(source); }
  std::vector<stream::TextSum> sums(std::uint32_t count) override;
  /// The same; says what the source gave, nothing where that was not a byte.
  std::optional<ChunkHash> end(std::uint32_t source);
  /// The same of a source that was read elsewhere.
  void add(std::uint32_t source, const ChunkHash& chunk);

  /// The first source before `end`, in their order, that has been read to its end and was not taken
  /// yet, and what it gave; one without a byte is none.
  std::optional<std::pair<std::uint32_t, ChunkHash>> take_before(std::uint64_t end);

 private:
  std::mutex mutex_;  ///< guards ended_ and taken_
  std::map<std::uint32_t, ChunkHash> ended_;
  std::uint64_t taken_ = 0;   ///< those before this one have been taken
  std::uint32_t source_ = 0;  ///< that is read
  ChunkHasher hasher_;        ///< of its bytes; the reader's
};

}  // namespace leveret::train
