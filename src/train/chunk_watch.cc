#include "train/chunk_watch.h"

#include <utility>

namespace leveret::train {

void ChunkWatch::bytes(std::uint32_t source, std::string_view bytes) {
  if (std::exchange(source_, source) != source) hasher_ = {};
  hasher_.add(bytes);
}

std::optional<ChunkHash> ChunkWatch::end(std::uint32_t source) {
  const bool has_bytes = source == source_ && hasher_.bytes() > 0;
  std::optional<ChunkHash> chunk;
  if (has_bytes) chunk = hasher_.get();
  if (chunk) {
    add(source, *chunk);
  } else {
    const std::lock_guard lock(mutex_);
    begun_.erase(source);
  }
  hasher_ = {};
  return chunk;
}

void ChunkWatch::add(std::uint32_t source, const ChunkHash& chunk) {
  const std::lock_guard lock(mutex_);
  ended_.insert_or_assign(source, chunk);
}

std::vector<stream::TextSum> ChunkWatch::sums(std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  std::vector<stream::TextSum> sums(count);
  for (const auto& [source, chunk] : ended_) {
    if (source < count) sums[source] = chunk.to_sum();
  }
  return sums;
}

void ChunkWatch::begins(std::uint32_t source, const std::string& path,
                        const std::optional<files::FileState>& state) {
  const std::lock_guard lock(mutex_);
  begun_.insert_or_assign(source, Begun{path, state});
}

bool ChunkWatch::Taken::has_changed() const {
  if (!state) return false;
  const std::optional<files::FileState> now = files::state_of(path);
  if (!now || *now == *state) return false;
  const std::optional<ChunkHash> there = hash_of_file(path, nullptr);
  return there && *there != chunk;
}

std::optional<ChunkWatch::Taken> ChunkWatch::take_before(std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  const auto first = ended_.lower_bound(static_cast<std::uint32_t>(taken_));
  if (first == ended_.end() || first->first >= end) return std::nullopt;
  taken_ = std::uint64_t{first->first} + 1;
  Taken taken{first->first, first->second, {}, {}};
  const auto begun = begun_.find(first->first);
  if (begun == begun_.end()) return taken;
  taken.path = begun->second.path;
  taken.state = begun->second.state;
  begun_.erase(begun);
  return taken;
}

}  // namespace leveret::train
