#include "model/sightings.h"

#include <algorithm>

namespace leveret::model {
namespace {

void raise(table::Counter& counter, std::uint64_t by) {
  if (by > 0) counter.add(static_cast<std::int64_t>(by));
}

void halve(table::Counter& counter) { counter.set(counter.get() / 2); }

}  // namespace

void Sightings::add(const SightingCounts& counts) {
  raise(taken_, counts.taken);
  if (counts.examples == 0) return;
  raise(examples_, counts.examples);
  for (std::size_t i = 0; i < counts.seen.size() && i < seen_.size(); ++i) {
    if (counts.seen[i].examples > 0) seen_[i].add(counts.seen[i]);
  }
  if (examples_.get() >= kMost) fade();
}

void Sightings::SeenCounter::add(const Seen& more) {
  raise(examples, more.examples);
  if (more.features == 0) return;
  raise(features, more.features);
  raise(fresh, more.fresh);
  more.fresh > 0 ? since.set(0) : raise(since, more.features);
  if (features.get() < kMostFeatures) return;
  halve(features);
  halve(fresh);
}

void Sightings::fade() {
  halve(examples_);
  for (SeenCounter& seen : seen_) halve(seen.examples);
}

void Sightings::set(const SightingCounts& counts) {
  taken_.set(counts.taken);
  examples_.set(counts.examples);
  fit(counts.seen.size());
  for (std::size_t i = 0; i < counts.seen.size(); ++i) {
    seen_[i].examples.set(counts.seen[i].examples);
    seen_[i].features.set(counts.seen[i].features);
    seen_[i].fresh.set(counts.seen[i].fresh);
    seen_[i].since.set(counts.seen[i].since);
  }
}

SightingCounts Sightings::get() const {
  SightingCounts counts{taken_.get(), std::min(examples_.get(), taken_.get()), {}};
  for (const SeenCounter& seen : seen_) {
    // Threads that fade them side by side may leave more of a part than there is of the whole.
    const std::uint64_t features = seen.features.get();
    counts.seen.push_back({std::min(seen.examples.get(), counts.examples), features,
                           std::min(seen.fresh.get(), features), seen.since.get()});
  }
  return counts;
}

}  // namespace leveret::model
