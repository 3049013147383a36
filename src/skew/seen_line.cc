#include "skew/seen_line.h"

#include <algorithm>

namespace leveret::skew {
namespace {

using feature::FeatureBatch;

/// Bits of so many plans, none of which is FeatureBatch::kOtherPlans.
std::uint64_t bits_of(std::size_t plans) {
  return (std::uint64_t{1} << std::min<std::size_t>(plans, FeatureBatch::kOtherPlans)) - 1;
}

}  // namespace

SeenLines::SeenLines(const model::Model& model, const text::NamespaceNames& names)
    : places_(model.features(), &model.tables(), names),
      met_(bits_of(model.features().plans().size())),
      notes_by_field_(model.tables().hashed() != nullptr && model.features().several_fields()) {}

void SeenLines::see(const text::ExampleChunk& chunk, const text::Example& example,
                    const FeatureBatch& batch, std::size_t b, const model::Lookup& lookup,
                    SeenLine& line) {
  const FeatureBatch::Origin& origin = batch.origins[b];
  line.plans = plans(example, batch, b);
  line.unknown.clear();
  if (notes_by_field_ || (origin.plans == 0 && origin.places == FeatureBatch::kNoPlaces)) {
    return look_up(chunk, example, line.unknown);
  }
  const auto noted = lookup.unknown_of(b);
  noted_.assign(noted.begin(), noted.end());
  if (!std::ranges::is_sorted(noted_)) std::ranges::sort(noted_);
  if (origin.plans == 0) {
    return find_in_runs(chunk, example, batch.places.data() + origin.places, line.unknown);
  }
  const std::uint32_t to_chunk = chunk.runs[example.runs_begin].begin - batch.linear_begin(b);
  for (const std::uint32_t i : noted_) line.unknown.push_back(i + to_chunk);
}

/// Run r of the example is from places[r] on in the batch; those that are not linear are not.
void SeenLines::find_in_runs(const text::ExampleChunk& chunk, const text::Example& example,
                             const std::uint32_t* places, std::vector<std::uint32_t>& unknown) {
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    const std::uint32_t begin = places[r - example.runs_begin];
    if (begin == feature::kNoLinear) {
      look_up(chunk, run, unknown);
      continue;
    }
    const std::uint32_t end = begin + (run.end - run.begin);
    for (auto i = std::ranges::lower_bound(noted_, begin); i != noted_.end() && *i < end; ++i) {
      unknown.push_back(*i - begin + run.begin);
    }
  }
}

void SeenLines::look_up(const text::ExampleChunk& chunk, const text::Example& example,
                        std::vector<std::uint32_t>& unknown) {
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    look_up(chunk, chunk.runs[r], unknown);
  }
}

void SeenLines::look_up(const text::ExampleChunk& chunk, const text::NamespaceRun& run,
                        std::vector<std::uint32_t>& unknown) {
  const model::NamespacePlace place = places_.of(run.name);
  if (!place.is_known() || place.shard == model::NamespacePlace::kNoShard) return;
  for (std::uint32_t f = run.begin; f < run.end; ++f) {
    if (!places_.knows(place, chunk.features[f].hash)) unknown.push_back(f);
  }
}

}  // namespace leveret::skew
