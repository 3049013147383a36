/// What `audit` prints about one example: its features in VW's form, and, with a model, what each
/// head and each field adds to the prediction.
#pragma once

#include <string>
#include <vector>

#include "feature/feature_batch.h"
#include "feature/feature_map.h"
#include "model/model.h"
#include "tape/tape.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::cli {

/// One thread's. What it is given must outlive it. Chunks need their names
/// (text::ParserOptions::keep_names), batches their parents (FeatureBatch::keep_parents).
class AuditText {
 public:
  /// `model` may be null: then features have no weights.
  AuditText(const model::Spec& spec, const text::NamespaceNames& names,
            const feature::FeatureMap& features, const model::Model* model)
      : spec_(spec), names_(names), features_(features), model_(model) {}

  /// The line of features. `batch` holds this example alone.
  void append_features(const text::ExampleChunk& chunk, const text::Example& example,
                       const feature::FeatureBatch& batch, std::string& to);
  /// The lines of heads and of fields, after Network::forward. Only with a model.
  void append_heads(const tape::Tape& tape, std::string& to) const;

 private:
  /// A feature as it is printed; `plan` null: an interaction.
  struct Entry {
    text::Feature feature;
    const feature::NamespacePlan* plan;
  };

  void append_mapped(const text::ExampleChunk& chunk, const text::Example& example,
                     const feature::FeatureBatch& batch, std::string& to);
  const feature::NamespacePlan& plan_of(std::uint32_t name_id);
  void append_name(const text::ExampleChunk& chunk, const text::Example& example,
                   std::uint32_t feature, std::string& to) const;
  void append_index(std::uint32_t hash, float value, std::string& to) const;
  void append_weights(const Entry& entry, std::string& to) const;
  void append_cell(const table::Cell* cell, float value, std::string& to) const;
  void append_row(const Entry& entry, std::string& to) const;
  void append_counts(const table::Cell* cell, std::string& to) const;
  void append_constant(std::string& to) const;
  void append_contributions(const tape::Tape& tape, std::uint32_t group, std::string& to) const;

  const model::Spec& spec_;
  const text::NamespaceNames& names_;
  const feature::FeatureMap& features_;
  const model::Model* model_;
  bool of_plans_ = false;               ///< runs' names are plans, as in FeatureBatch::derived
  std::vector<std::uint32_t> plan_at_;  ///< name id -> index of its plan + 1; 0: not looked for yet
};

}  // namespace leveret::cli
