#include "train/sighting_counter.h"

namespace leveret::train {

void SightingCounter::take(const text::ExampleChunk& chunk, std::size_t first, std::size_t count) {
  waiting_.taken += count;
  const std::size_t end = first + count;
  for (std::size_t next = first + until_counted(); next < end; next = first + until_counted()) {
    taken_ += next - first;
    this->count(chunk, chunk.examples[next]);
    ++taken_;
    first = next + 1;
  }
  taken_ += end - first;
}

void SightingCounter::count(const text::ExampleChunk& chunk, const text::Example& example) {
  const std::size_t plans = features_.plans().size();
  if (waiting_.seen.size() < plans) waiting_.seen.resize(plans);
  if (last_.size() < plans) last_.resize(plans);
  ++waiting_.examples;
  const bool asks = before_ != nullptr && taken_ >= model::Sightings::kStart;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    const model::NamespacePlace place = places_.of(run.name);
    if (!place.is_known() || run.begin == run.end) continue;
    model::Seen& seen = waiting_.seen[place.plan];
    seen.examples += std::exchange(last_[place.plan], taken_ + 1) != taken_ + 1;
    if (!asks || place.shard == model::NamespacePlace::kNoShard) continue;
    if (!before_->asks(place.plan)) continue;
    seen.features += run.end - run.begin;
    for (std::uint32_t f = run.begin; f < run.end; ++f) {
      seen.fresh += !places_.knows(place, chunk.features[f].hash);
    }
  }
}

}  // namespace leveret::train
