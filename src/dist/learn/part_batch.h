/// The examples that each shard is given of a batch: all examples, with those of their features
/// that it holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dist/plan/plan.h"
#include "feature/feature_batch.h"
#include "feature/feature_map.h"
#include "table/admission.h"
#include "tape/partition.h"

namespace leveret::dist {

/// Labels, importance and initial scores are of all examples; runs are those of groups and fields
/// that the shard holds. A feature of a field whose cell is elsewhere says kLinearElsewhere. Shard 0
/// has the numbers of --numeric.
struct PartBatch {
  feature::FeatureBatch features;
  /// By example, over the features of all its fields: their number, and the sum of the squares of
  /// their values as they came (with one head FFM scores are scaled by both).
  std::vector<float> instance_features, instance_squares;

  tape::WholeExamples wholes() const { return {instance_features, instance_squares}; }
  std::size_t size() const { return features.size(); }
  void clear();
};

/// Where batches are split by examples: those of a rank, [begin, end) of the batch.
struct ExampleShare {
  std::size_t begin, end;
  static ExampleShare of(std::size_t examples, unsigned rank, unsigned ranks) {
    return {examples * rank / ranks, examples * (rank + 1) / ranks};
  }
};

/// Namespaces and features that are new with a batch. All ranks meet it before the batch.
struct Growth {
  std::vector<feature::NamespacePlan> namespaces;  ///< behind those that are known
  /// The number of fields after each example that brought some: first values of what grows with
  /// them depend on the steps.
  std::vector<std::uint32_t> fields;
  std::vector<FieldSize> sizes;  ///< of the new fields

  bool empty() const { return namespaces.empty() && fields.empty(); }
};

/// Makes `part` the shard's share of `batch`, whose fields the plan knows.
void cut(const feature::FeatureBatch& batch, const Plan& plan, std::uint32_t shard,
         PartBatch& part);
/// The same of examples [begin, end) alone.
void cut(const feature::FeatureBatch& batch, const Plan& plan, std::uint32_t shard,
         std::size_t begin, std::size_t end, PartBatch& part);

/// The sizes of fields first, first + 1, …, fields - 1 in a long stream, guessed from how often
/// each feature has come in a batch. One rank does this for all: it is no matter of integers.
std::vector<FieldSize> guess_sizes(const feature::FeatureBatch& batch, std::uint32_t first,
                                   std::uint32_t fields, const table::Admission& admission);

}  // namespace leveret::dist
