#include "daemon/context_cache.h"

#include <iterator>
#include <span>
#include <utility>

#include "store/checksum.h"

namespace leveret::daemon {

std::uint64_t ContextCache::hash_of(std::uint64_t predictor, const text::ExampleChunk& chunk,
                                    const text::Example& example) {
  std::uint64_t hash = predictor;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    const std::span features(chunk.features.data() + run.begin, run.end - run.begin);
    hash = store::seeded_checksum(std::as_bytes(features), hash ^ run.hash);
  }
  return hash;
}

std::shared_ptr<predict::CachedContext> ContextCache::find(std::uint64_t predictor,
                                                           const text::ExampleChunk& chunk,
                                                           std::size_t example) {
  const auto found = by_hash_.find(hash_of(predictor, chunk, chunk.examples[example]));
  if (found == by_hash_.end()) return nullptr;
  const Entry& entry = *found->second;
  if (entry.predictor != predictor ||
      !predict::has_features_of(*entry.context, chunk, chunk.examples[example])) {
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return entry.context;
}

void ContextCache::add(std::uint64_t predictor, std::shared_ptr<predict::CachedContext> context) {
  const std::size_t bytes = context->size_bytes();
  if (bytes > max_bytes_) return;
  const text::ExampleChunk& features = context->features;
  const std::uint64_t hash = hash_of(predictor, features, features.examples[0]);
  if (const auto old = by_hash_.find(hash); old != by_hash_.end()) remove(old->second);
  while (bytes_ + bytes > max_bytes_) remove(std::prev(entries_.end()));
  entries_.push_front({hash, predictor, bytes, std::move(context)});
  by_hash_[hash] = entries_.begin();
  bytes_ += bytes;
}

void ContextCache::remove(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_hash_.erase(entry->hash);
  entries_.erase(entry);
}

void ContextCache::forget(std::uint64_t predictor) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->predictor == predictor) remove(entry);
    entry = next;
  }
}

}  // namespace leveret::daemon
