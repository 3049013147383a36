/// The features of a line under their names, as `audit` and `inspect --weights` show them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "feature/feature_batch.h"
#include "feature/feature_map.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::cli {

/// One thread's. What it is given must outlive it. Chunks need their names
/// (text::ParserOptions::keep_names), batches their parents (FeatureBatch::keep_parents).
class FeatureNames {
 public:
  FeatureNames(const text::NamespaceNames& names, const feature::FeatureMap& features)
      : names_(names), features_(features) {}

  struct Named {
    std::string
        name;  ///< "user^7", "user^age^young", and with * between them those of interactions
    text::Feature feature;
    const feature::NamespacePlan* plan;  ///< null: an interaction
    /// The group of its linear weight.
    std::uint32_t group() const {
      return plan != nullptr && !plan->fields.empty() ? plan->fields[0] + 1 : 0;
    }
  };
  /// Calls visit(Named) for each feature that is kept, in the order of the line, then for each
  /// interaction. `batch` holds this example alone.
  template <class Visit>
  void for_each(const text::ExampleChunk& chunk, const text::Example& example,
                const feature::FeatureBatch& batch, Visit visit);

 private:
  const feature::NamespacePlan& plan_of(std::uint32_t name_id);
  std::string name_of(const text::ExampleChunk& chunk, const text::Example& example,
                      std::uint32_t feature) const;

  const text::NamespaceNames& names_;
  const feature::FeatureMap& features_;
  bool of_plans_ = false;               ///< runs' names are plans, as in FeatureBatch::derived
  std::vector<std::uint32_t> plan_at_;  ///< name id -> index of its plan + 1; 0: not looked for yet
};

template <class Visit>
void FeatureNames::for_each(const text::ExampleChunk& of_line, const text::Example& of_example,
                            const feature::FeatureBatch& batch, Visit visit) {
  of_plans_ = !batch.derived.chunk.examples.empty();
  const text::ExampleChunk& chunk = of_plans_ ? batch.derived.chunk : of_line;
  const text::Example& example = of_plans_ ? chunk.examples[0] : of_example;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    const feature::NamespacePlan& plan = plan_of(run.name);
    if (!plan.keep) continue;
    for (std::uint32_t f = run.begin; f < run.end; ++f) {
      visit(Named{name_of(chunk, example, f), chunk.features[f], &plan});
    }
  }
  for (std::size_t i = 0; i < batch.parents.size(); ++i) {
    const auto& [a, b, c] = batch.parents[i];
    std::string name = name_of(chunk, example, a) + '*' + name_of(chunk, example, b);
    if (c != feature::kNoParent) name += '*' + name_of(chunk, example, c);
    visit(Named{std::move(name), batch.linear[i], nullptr});
  }
}

}  // namespace leveret::cli
