/// The part of a model in shards that is everywhere: what features mean, mixers, constants and the
/// base rate, the weights of the counts of groups that are cut by key, all layers, and of those
/// that shards divide the biases and a few columns (frame_columns).
///
/// From the sums over all shards it makes the scores, losses and errors of a batch, by the blocks
/// that a model in one place has. All ranks do so with the same numbers, and have the same result.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dist/learn/part_batch.h"
#include "dist/plan/sum_layout.h"
#include "model/model.h"
#include "net/network.h"
#include "optim/optimizer.h"
#include "optim/steps.h"

namespace leveret::dist {

/// Which arrays of a model somebody has values of.
enum class Has {
  kFrame,  ///< all, but of the columns of divided layers only frame_columns
  kPart,   ///< none of layers
};
/// The inputs of a divided layer of which the weights are everywhere (tape::Join::everyones), of a
/// model with these parameters; none without fields, or of another layer.
std::vector<std::uint32_t> frame_columns(const spec::Spec& spec, const tape::Parameters& parameters,
                                         std::size_t layer);
/// The arrays and tensors of a model with so many fields, with no more of the layers than this.
tape::Declarations arrays_of(const spec::Spec& spec, const block::Config& config,
                             const tape::Extent& layout, Has has);

class Frame {
 public:
  Frame(const spec::Spec& spec, const kernels::Kernels& kernels);

  const model::Model& model() const { return model_; }
  model::Model& model() { return model_; }
  const std::shared_ptr<feature::FeatureMap>& features() const { return features_; }
  /// Replaces the namespaces that are known.
  void set_features(std::vector<feature::NamespacePlan> namespaces);
  /// Gives its arrays the shapes that they have with so many fields.
  void fit(tape::Extent to);

  /// Labels, importance and initial scores of a batch, before its partitions are opened.
  void open(const PartBatch& batch);
  /// How sums lie with as many fields as there are.
  const SumLayout& sums() const { return sums_; }
  /// Scores of all examples, from what all shards have made in all rounds.
  void forward(std::span<float> sums);
  /// On the way its layers take their steps.
  void backward() { network_.finish_back(model_.parameters(), tape_, shares_); }
  /// Its other steps.
  void learn() { steps_.finish(); }

  tape::Tape& tape() { return tape_; }
  const tape::Tape& tape() const { return tape_; }

 private:
  std::shared_ptr<feature::FeatureMap> features_;
  model::Model model_;
  const net::Network network_;
  optim::Optimizer optimizer_;
  feature::FeatureBatch examples_;  ///< without features
  tape::Tape tape_;
  optim::Steps steps_;  ///< its sink
  SumLayout sums_;
  net::Shares shares_;
};

}  // namespace leveret::dist
