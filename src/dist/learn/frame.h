/// What is everywhere of a model that lies in shards: what features mean, mixers, constants and the
/// base rate, the weights of the counts of groups that are cut by key, all layers behind the first
/// one, and of that its biases and a few columns (frame_columns).
///
/// From the sums over all shards it makes the scores, losses and errors of a batch, by the blocks
/// that a model in one place has. All ranks do so with the same numbers, and have the same result.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "block/ffm_block.h"
#include "block/fm_block.h"
#include "block/linear_block.h"
#include "block/loss_block.h"
#include "block/merge_norm.h"
#include "block/mlp_block.h"
#include "block/norm_block.h"
#include "dist/learn/part_batch.h"
#include "dist/plan/sum_layout.h"
#include "model/model.h"
#include "net/make_blocks.h"
#include "optim/optimizer.h"
#include "optim/steps.h"

namespace leveret::dist {

/// Of which arrays of a model somebody has values.
enum class Has {
  kFrame,  ///< all, but of the first layer's columns only frame_columns
  kPart,   ///< none of layers
};
/// The inputs of the first layer of which the weights are everywhere, ascending: what nobody owns
/// alone, and those of groups that are cut by key, the first `by_key` of them. Where there are
/// none, one that is called kNewColumn: its input and its weights are 0.
std::vector<std::uint32_t> frame_columns(const tape::Join& join, std::uint32_t by_key);
/// The same of a model with these parameters, which has layers; none without fields.
std::vector<std::uint32_t> frame_columns(const model::Spec& spec,
                                         const tape::Parameters& parameters);
/// The arrays and tensors of a model with so many fields, with no more of the layers than this.
tape::Declarations arrays_of(const model::Spec& spec, const block::Config& config,
                             const tape::Extent& layout, Has has);

/// How the inputs of an example are normalised, and what the way back needs of all of them.
struct ExampleNorm {
  block::Norm<float> norm;
  block::NormBack back;
};

class Frame {
 public:
  Frame(const model::Spec& spec, const kernels::Kernels& kernels);

  const model::Model& model() const { return model_; }
  model::Model& model() { return model_; }
  const std::shared_ptr<feature::FeatureMap>& features() const { return features_; }
  /// Replaces the namespaces that are known.
  void set_features(std::vector<feature::NamespacePlan> namespaces);
  /// Gives its arrays the shapes that they have with so many fields.
  void fit(tape::Extent to);

  /// Labels, importance and initial scores of a batch.
  void open(const feature::FeatureBatch& batch);
  /// How sums lie with as many fields as there are.
  const SumLayout& sums() const { return sums_; }
  /// Scores of all examples, from what all shards have made.
  void forward(const PartBatch& batch, std::span<const float> sums);
  /// On the way its layers take their steps.
  void backward();
  /// Its other steps.
  void learn();

  const tape::Tape& tape() const { return tape_; }
  const ExampleNorm& norm(std::size_t b) const { return norms_[b]; }
  /// With one head and layers: d loss / d linear sum, through the layers, of each group that is cut
  /// by key.
  std::span<const float> d_by_key(std::size_t b) const {
    return std::span(d_by_key_).subspan(b * by_key(), by_key());
  }
  /// d loss / d output of the first layer, before ReLU; h floats of each example.
  const float* d_first() const { return tape_[mlp_->first()].gradient; }

 private:
  bool has_layers() const;
  void finish_blocks(std::span<const float> sums, std::size_t b);
  void first_layer(std::span<const float> sums);
  void norm_forward(std::span<const float> sums);
  void put_inputs(std::size_t b);
  std::uint32_t by_key() const {
    return groups_by_key(model_.spec(), model_.parameters().layout.fields);
  }

  block::Config config_;
  std::shared_ptr<feature::FeatureMap> features_;
  model::Model model_;
  const kernels::Kernels& kernels_;
  const net::Blocks blocks_;
  // Its blocks; null: there is none.
  const block::LinearBlock& linear_;
  const block::FfmBlock* const ffm_;
  const block::FmBlock* const fm_;
  const block::MlpBlock* const mlp_;
  const block::LossBlock& loss_;
  optim::Optimizer optimizer_;
  feature::FeatureBatch examples_;  ///< without features
  tape::Tape tape_;
  optim::Steps steps_;  ///< its sink
  SumLayout sums_;
  std::vector<ExampleNorm> norms_;  ///< B
  tape::JoinColumns columns_;       ///< its inputs of the first layer
  std::vector<float> d_by_key_;     ///< B * by_key()
  std::vector<float> column_sums_;  ///< h: W 1 of what is normalised
  std::vector<float> normalised_;   ///< B * h: W x^
};

}  // namespace leveret::dist
