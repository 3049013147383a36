/// From parsed examples to batches, cut by count in the order of the stream, and what is new with
/// each: one rank does this for all.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/part_batch.h"
#include "feature/feature_map.h"
#include "model/model.h"
#include "model/spec.h"
#include "predict/outcome.h"
#include "text/namespace_names.h"

namespace leveret::dist {

/// One thread. Owns what features mean, as far as it has read.
class BatchMaker {
 public:
  /// `known`: namespaces and fields that all ranks know. `names` are those of the parser whose
  /// chunks will come, and outlive it. For prediction nothing is ever new, and a namespace that is
  /// not known has no field.
  BatchMaker(const model::Spec& spec, std::vector<feature::NamespacePlan> known,
             std::uint32_t known_fields, const text::NamespaceNames& names,
             model::Use use = model::Use::kLearn);

  /// Takes examples [first, first + count) of the chunk, or as many as the batch has room for;
  /// returns how many.
  std::size_t take(const text::ExampleChunk& chunk, std::size_t first, std::size_t count);
  bool full() const { return batch_.size() == size_; }
  bool learns() const { return use_ == model::Use::kLearn; }
  bool empty() const { return batch_.size() == 0; }

  const feature::FeatureBatch& batch() const { return batch_; }
  /// What is new with this batch. Once for each batch: it is known then.
  Growth growth();
  /// Appends the outcomes of the batch, of which these are the scores, and begins the next one.
  void finish(std::span<const float> scores, predict::Outcomes& outcomes);

 private:
  std::size_t size_;
  model::Use use_;
  bool constant_;
  table::Admission admission_;
  feature::FeatureMap features_;
  const text::NamespaceNames& names_;
  std::size_t known_namespaces_;
  std::uint32_t known_fields_;
  std::vector<std::uint32_t> steps_;  ///< see Growth::fields
  feature::FeatureBatch batch_;
  predict::Outcomes waiting_;
};

}  // namespace leveret::dist
