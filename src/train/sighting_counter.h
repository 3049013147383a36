/// Counts for a learner what its examples have of each namespace (model/sightings.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/model.h"
#include "model/namespace_places.h"
#include "model/sightings.h"
#include "text/example.h"

namespace leveret::train {

/// One thread's. What is counted waits until the examples are learned (`hand_over`), so that a
/// model that is saved between has what it has learned, and no more.
class SightingCounter {
 public:
  /// For the model, whose sightings it goes on with; both outlive it.
  SightingCounter(const model::Model& model, const text::NamespaceNames& names)
      : features_(model.features()),
        places_(features_, &model.tables(), names),
        before_(&model.sightings()),
        taken_(before_->taken()) {}
  /// Where the model's tables are elsewhere: nobody asks whether features are new. `taken`:
  /// examples that were taken before.
  SightingCounter(const feature::FeatureMap& features, const text::NamespaceNames& names,
                  std::uint64_t taken)
      : features_(features), places_(features, nullptr, names), taken_(taken) {}

  /// How many examples may be taken before the next one that is counted: 0, it is that one.
  std::size_t until_counted() const {
    constexpr std::uint64_t kStride = model::Sightings::kStride;
    return (kStride - taken_ % kStride) % kStride;
  }
  /// Examples [first, first + count) of the chunk, all of whose namespaces are met, are taken. Is
  /// exact where all before the one that is counted are learned.
  void take(const text::ExampleChunk& chunk, std::size_t first, std::size_t count);
  /// Hands what was counted since the last time to a function that adds it up.
  template <class Add>
  void hand_over(Add add) {
    if (waiting_.taken == 0) return;
    add(std::as_const(waiting_));
    waiting_.taken = 0;
    if (waiting_.examples == 0) return;
    waiting_.examples = 0;
    waiting_.seen.assign(waiting_.seen.size(), {});
  }

 private:
  void count(const text::ExampleChunk& chunk, const text::Example& example);

  const feature::FeatureMap& features_;
  model::NamespacePlaces places_;
  const model::Sightings* before_ = nullptr;
  std::uint64_t taken_;
  model::SightingCounts waiting_;
  std::vector<std::uint64_t> last_;  ///< by plan: `taken_` at the last example that had it, + 1
};

}  // namespace leveret::train
