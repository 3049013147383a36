/// The facts that `audit` tells of one example: its features, and, with a model, their weights and
/// what each head and each field adds to the prediction. How it is written: audit_text.h,
/// audit_json.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/look/feature_names.h"
#include "feature/feature_batch.h"
#include "feature/feature_map.h"
#include "model/model.h"
#include "tape/tape.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::cli {

struct AuditedFeature {
  std::string name;
  std::uint32_t index = 0;  ///< its hash, cut to the bits of -b
  float value = 0;

  // With a model:
  std::optional<float> weight = {};      ///< linear; nothing: the model does not know it
  float contribution = 0;                ///< to the linear score
  std::optional<float> row_length = {};  ///< of the weights of its rows; nothing: it has none
  float weight2 = 0, fast = 0, clicks = 0, count = 0;  ///< with mixed heads
};

/// In log-odds.
struct AuditedScore {
  std::string name;
  float score = 0;
};

/// The scores that a field adds, or that belong to no field.
struct AuditedField {
  std::string name;  ///< empty: of no field
  std::vector<AuditedScore> scores;
};

struct AuditedExample {
  std::vector<AuditedFeature> features;
  std::vector<AuditedScore> heads;   ///< where the score starts from, those of heads, the last
  std::vector<AuditedField> fields;  ///< that the example has; of no field last
};

/// One thread's. What it is given must outlive it. Chunks need their names
/// (text::ParserOptions::keep_names), batches their parents (FeatureBatch::keep_parents).
class AuditFacts {
 public:
  /// `model` may be null: then features have no weights, and there are no heads.
  AuditFacts(const spec::Spec& spec, const text::NamespaceNames& names,
             const feature::FeatureMap& features, const model::Model* model)
      : spec_(spec), features_(features), model_(model), named_(names, features) {}

  /// Replaces the features. `batch` holds this example alone.
  void put_features(const text::ExampleChunk& chunk, const text::Example& example,
                    const feature::FeatureBatch& batch, AuditedExample& to);
  /// Replaces heads and fields, after Network::forward. Only with a model.
  void put_scores(const tape::Tape& tape, AuditedExample& to) const;

 private:
  using Named = FeatureNames::Named;
  AuditedFeature named(const std::string& name, std::uint32_t hash, float value) const;
  void put_weights(const Named& named, AuditedFeature& to) const;
  std::optional<float> row_length(const Named& named) const;
  AuditedFeature constant() const;
  std::vector<AuditedScore> scores_of_group(const tape::Tape& tape, std::uint32_t group) const;

  const spec::Spec& spec_;
  const feature::FeatureMap& features_;
  const model::Model* model_;
  FeatureNames named_;
};

}  // namespace leveret::cli
