/// What `audit` prints about one example: its features in VW's form, and, with a model, what each
/// head and each field adds to the prediction.
#pragma once

#include <string>

#include "cli/look/feature_names.h"
#include "feature/feature_batch.h"
#include "feature/feature_map.h"
#include "model/model.h"
#include "predict/explainer.h"
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
      : spec_(spec), names_(names), features_(features), model_(model), named_(names, features) {}

  /// The line of features. `batch` holds this example alone.
  void append_features(const text::ExampleChunk& chunk, const text::Example& example,
                       const feature::FeatureBatch& batch, std::string& to);
  /// The lines of heads and of fields, after Network::forward. Only with a model.
  void append_heads(const tape::Tape& tape, std::string& to) const;
  /// The line of what each namespace adds.
  void append_explanation(const predict::Explanation& explanation, std::string& to) const;

 private:
  using Named = FeatureNames::Named;
  void append_index(std::uint32_t hash, float value, std::string& to) const;
  void append_weights(const Named& entry, std::string& to) const;
  void append_cell(const table::Cell* cell, float value, std::string& to) const;
  void append_row(const Named& entry, std::string& to) const;
  void append_counts(const table::Cell* cell, std::string& to) const;
  void append_constant(std::string& to) const;
  void append_contributions(const tape::Tape& tape, std::uint32_t group, std::string& to) const;

  const model::Spec& spec_;
  const text::NamespaceNames& names_;
  const feature::FeatureMap& features_;
  const model::Model* model_;
  FeatureNames named_;
};

}  // namespace leveret::cli
