/// Prediction without learning: the model is only read.
#pragma once

#include <memory>
#include <string_view>

#include "feature/feature_batch.h"
#include "kernels/kernels.h"
#include "model/lookup.h"
#include "net/network.h"
#include "predict/outcome.h"
#include "skew/skew.h"
#include "text/namespace_names.h"

namespace leveret::predict {

/// One thread's; many may share the model, which lives as long as one of them. What a line holds
/// that the model does not know (new namespaces, new features) counts for nothing.
class Predictor {
 public:
  /// `names` are those of the parser whose chunks will come; they outlive the predictor.
  Predictor(std::shared_ptr<const model::Model> model, const text::NamespaceNames& names,
            const kernels::Kernels& kernels);

  /// Appends an outcome for each of the examples [first, first + count) of the chunk, which `skew`
  /// counts, unless it is null. `text`: where names of their namespaces are, if not in the chunk.
  void predict(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
               Outcomes& outcomes, skew::SkewCounter* skew = nullptr);
  void predict(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
               Outcomes& outcomes, skew::SkewCounter* skew, std::string_view text);

  /// The batch notes what each interaction is made of, and the tape what each field says.
  void keep_for_audit() { batch_.groups = batch_.keep_parents = tape_.keep_parts = true; }

  /// The batch and tape of the last examples predicted: what audit shows.
  const feature::FeatureBatch& batch() const { return batch_; }
  const tape::Tape& tape() const { return tape_; }
  const feature::FeatureMap& features() const { return features_; }

 private:
  /// Examples that are mapped together.
  static constexpr std::size_t kWindow = 32;
  /// Examples that share a pass over the weights of the hidden layers.
  static constexpr std::size_t kTogether = 8;

  std::size_t together(std::size_t size) const;
  /// All of the batch, whose first example is `first` of the chunk.
  void predict_window(const text::ExampleChunk& chunk, std::size_t first, Outcomes& outcomes);
  void add_outcomes(const text::ExampleChunk& chunk, std::size_t first, Outcomes& outcomes) const;

  const std::shared_ptr<const model::Model> shared_model_;
  const model::Model& model_;
  const text::NamespaceNames& names_;
  feature::FeatureMap features_;  ///< its own: it may meet namespaces that the model has not
  model::Lookup lookup_;
  net::Network network_;
  tape::Tape tape_;
  feature::FeatureBatch batch_;
};

}  // namespace leveret::predict
