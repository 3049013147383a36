/// Hashes the sources of a stream while they are read, so that what has been learned can be noted.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "files/file_state.h"
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
  /// A source that will be read, and the state in which its file was: a change is seen later.
  void begins(std::uint32_t source, const std::string& path,
              const std::optional<files::FileState>& state);

  /// A source that was read to its end.
  struct Taken {
    std::uint32_t source = 0;
    ChunkHash chunk;
    std::string path;                       ///< as begins() was told; empty: it was not
    std::optional<files::FileState> state;  ///< of the file at that time

    /// Whether the file is another one now, or has other bytes: it was written while it was read,
    /// or since, so that not all of it was learned. A file that is gone has not changed.
    bool has_changed() const;
  };
  /// The first source before `end`, in their order, that has been read to its end and was not taken
  /// yet, and what it gave; one without a byte is none.
  std::optional<Taken> take_before(std::uint64_t end);

 private:
  struct Begun {
    std::string path;
    std::optional<files::FileState> state;
  };
  std::mutex mutex_;  ///< guards begun_, ended_ and taken_
  std::map<std::uint32_t, Begun> begun_;
  std::map<std::uint32_t, ChunkHash> ended_;
  std::uint64_t taken_ = 0;   ///< those before this one have been taken
  std::uint32_t source_ = 0;  ///< that is read
  ChunkHasher hasher_;        ///< of its bytes; the reader's
};

}  // namespace leveret::train
