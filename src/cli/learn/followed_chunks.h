/// Messages of `train --follow` about the files of a folder, and the choice of those that it reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stream/source_events.h"
#include "train/chunk_ledger.h"
#include "train/chunk_watch.h"
#include "train/notes.h"

namespace leveret::cli {

/// In the thread that reads, which knows what it has read, and so what will have been learned.
class FollowedChunks final : public stream::SourceEvents {
 public:
  /// `watch` outlives it. `notes`: of the model that goes on; `saved`: when that was written, in
  /// nanoseconds since 1970; 0: it is a new one. `again`: a chunk that comes again is read.
  FollowedChunks(train::ChunkWatch& watch, const train::Notes& notes, bool again,
                 std::int64_t saved)
      : watch_(watch),
        learned_(notes.chunks),
        without_(notes.without),
        unwanted_(notes.unwanted),
        again_(again),
        saved_(saved) {}

  bool wants(std::uint32_t source, const std::string& path) override;
  void late(const std::string& path, const std::string& last) override;
  void before(const std::vector<std::string>& paths, const std::string& last) override;
  void bytes(std::uint32_t source, std::string_view bytes) override { watch_.bytes(source, bytes); }
  void ended(std::uint32_t source) override {
    if (const auto chunk = watch_.end(source)) learned_.add(*chunk);
  }

 private:
  bool is_unwanted(const std::string& path) const;
  bool is_as_learned(const std::string& path) const;

  train::ChunkWatch& watch_;
  train::ChunkLedger learned_;
  const std::vector<std::string> without_;
  const train::ChunkLedger unwanted_;
  const bool again_;
  const std::int64_t saved_;
};

}  // namespace leveret::cli
