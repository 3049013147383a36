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
  if (chunk) add(source, *chunk);
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

std::optional<std::pair<std::uint32_t, ChunkHash>> ChunkWatch::take_before(std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  const auto first = ended_.lower_bound(static_cast<std::uint32_t>(taken_));
  if (first == ended_.end() || first->first >= end) return std::nullopt;
  taken_ = std::uint64_t{first->first} + 1;
  return *first;
}

}  // namespace leveret::train
