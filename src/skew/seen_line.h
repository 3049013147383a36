/// The findings of a look-up about the features of an example, told of the example as it lies in
/// its chunk: for who counts lines (skew/skew.h), so that nothing is looked up twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "feature/feature_batch.h"
#include "model/lookup.h"
#include "model/model.h"
#include "model/namespace_places.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::skew {

struct SeenLine {
  /// Bit p: it has one feature of plan p, which the model has met. 0: it has others, too.
  std::uint64_t plans = 0;
  /// Features that the model does not know, by place in the chunk, in order. Those of namespaces
  /// without a NamespacePlace::shard are here or not.
  std::vector<std::uint32_t> unknown;
};

/// One thread's. Of batches with origins (FeatureBatch::keep_origins), and look-ups that note what
/// they do not find.
class SeenLines {
 public:
  /// `names` are those of the parser whose chunks come; both outlive it.
  SeenLines(const model::Model& model, const text::NamespaceNames& names);

  model::NamespacePlaces& places() { return places_; }

  /// SeenLine::plans of example b of the batch, which is this one.
  std::uint64_t plans(const text::Example& example, const feature::FeatureBatch& batch,
                      std::size_t b) const {
    const std::uint64_t plans = batch.origins[b].plans;
    const bool one_each = batch.linear_end(b) - batch.linear_begin(b) ==
                          example.runs_end - example.runs_begin;  // no run is empty
    return one_each && (plans & ~met_) == 0 ? plans : 0;
  }
  /// All of it.
  void see(const text::ExampleChunk& chunk, const text::Example& example,
           const feature::FeatureBatch& batch, std::size_t b, const model::Lookup& lookup,
           SeenLine& line);
  /// SeenLine::unknown, found by looking all of its features up.
  void look_up(const text::ExampleChunk& chunk, const text::Example& example,
               std::vector<std::uint32_t>& unknown);

 private:
  void look_up(const text::ExampleChunk& chunk, const text::NamespaceRun& run,
               std::vector<std::uint32_t>& unknown);
  void find_in_runs(const text::ExampleChunk& chunk, const text::Example& example,
                    const std::uint32_t* places, std::vector<std::uint32_t>& unknown);

  model::NamespacePlaces places_;
  const std::uint64_t met_;           ///< the plans that the model has, as far as they have bits
  const bool notes_by_field_;         ///< a look-up notes a feature of several fields in each
  std::vector<std::uint32_t> noted_;  ///< of the example at hand, in order
};

}  // namespace leveret::skew
