/// The whole forward pass in slow, obvious double-precision code, written from the equations in the
/// headers of the blocks: the oracle of the forward tests and, by central differences, of the
/// gradient checks.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "feature/feature_batch.h"
#include "model/model.h"

namespace leveret::model {

/// What one example looks like half-way and at the end. Names as of heads and in Tape.
struct ReferenceScores {
  double base = 0, linear = 0, linear2 = 0, counts = 0, fast = 0, first = 0, ffm = 0, deep = 0;
  double last = 0;
  double squares = 0;                                          ///< of the linear features' values
  std::vector<double> group_linear, group_counts, group_seen;  ///< per group
  std::vector<double> pairs;                                   ///< g(g+1)/2 + f for f <= g
  double ffm_scale = 0;
  std::vector<double> inputs;   ///< of the MLP
  double nearest_kink = 1e30;   ///< smallest |x| that a ReLU saw
  double mlp = 0;               ///< output neurons of all towers but those over embeddings
  std::vector<double> numbers;  ///< z, as numbers_block.h has them
  std::vector<std::vector<double>> embeddings;  ///< e of each field, d
  std::vector<std::vector<double>> embedded;    ///< x v of each feature with a row, divided as e is
  double embedding_scale = 0;
  double towers = 0;          ///< all that towers over embeddings add
  std::vector<double> joint;  ///< of the heads of the joint loss, in their order
  std::vector<double> own;    ///< what towers add that have a loss of their own
};

/// A copy of what a model knows about the features of one batch. Weights may be moved at will.
struct ReferenceModel {
  ReferenceModel(const Model& model, const feature::FeatureBatch& batch);

  ReferenceScores forward(const feature::FeatureBatch& batch, std::size_t b) const;

  /// What the gradients are gradients of. spec::Heads::kOne: importance * loss of `last`.
  /// spec::Heads::kMixed: the sum of that of every head, where a head that stands on others takes
  /// their scores from `frozen`, as no error flows back to them.
  double objective(const feature::FeatureBatch& batch, std::size_t b,
                   const ReferenceScores& frozen) const;

  struct Layer {
    std::vector<std::vector<double>> weights;  ///< [output][input]
    std::vector<double> bias;
    std::string name;   ///< that of its arrays
    std::string tower;  ///< to which it belongs
  };
  /// That of a tower.
  std::vector<double> number_token(const std::string& tower, ReferenceScores& s) const;
  std::vector<std::vector<double>> chosen(const spec::TowerSpec& tower,
                                          const ReferenceScores& s) const;
  /// By name; std::logic_error where there is none.
  const Layer& layer(const std::string& name) const;

  struct Cell {
    double weight = 0, weight2 = 0, fast = 0, clicks = 0, count = 0;
    double largest_value = 0;
  };
  /// What a linear feature shares with no other one, but for those of equal hash with -b.
  using CellName = std::pair<std::uint32_t, std::uint32_t>;  ///< group, hash
  CellName name(std::uint32_t group, std::uint32_t hash) const;

  Spec spec;
  std::uint32_t fields = 0;
  std::map<CellName, Cell> cells;
  /// By field and hash; a feature without row is not there. ffm_k weights for each field, then
  /// embedding_dim.
  std::vector<std::map<std::uint32_t, std::vector<double>>> rows;
  std::vector<Layer> layers;
  /// The arrays that blocks learn beside layers by a rule of its own, but for the weights of
  /// groups; by name.
  std::map<std::string, std::vector<double>> arrays;
  std::vector<double> group_weights;
  double bias = 0, bias2 = 0, fast_bias = 0, clicks = 0, count = 1;
  std::vector<double> totals;  ///< of numbers: examples, sums, sums of squares
  struct MixerWeights {
    std::vector<float> weight, log_share;
  };
  MixerWeights first_mixer, second_mixer;

 private:
  struct Values {
    std::vector<double> linear, field;  ///< parallel to the batch's features
  };
  /// A feature of an example that has a row.
  struct Part {
    std::uint32_t field;
    double x;
    const std::vector<double>* row;
  };
  /// Also the scale of the example's pairs.
  std::vector<Part> parts_of(const feature::FeatureBatch& batch, std::size_t b, const Values& x,
                             double& scale) const;
  void copy_cells(const Model& model, const feature::FeatureBatch& batch);
  void copy_rows(const Model& model, const feature::FeatureBatch& batch);
  Values values(const feature::FeatureBatch& batch) const;
  void linear_one(const feature::FeatureBatch& batch, std::size_t b, const Values& x,
                  ReferenceScores& s) const;
  void linear_mixed(const feature::FeatureBatch& batch, std::size_t b, const Values& x,
                    ReferenceScores& s) const;
  void ffm(const feature::FeatureBatch& batch, std::size_t b, const Values& x,
           ReferenceScores& s) const;
  void merge_norm(ReferenceScores& s) const;
  void numbers(const feature::FeatureBatch& batch, std::size_t b, ReferenceScores& s) const;
  void mlp(ReferenceScores& s) const;
  // reference_towers.cc
  void embeddings(const feature::FeatureBatch& batch, std::size_t b, const Values& x,
                  ReferenceScores& s) const;
  /// The scores of towers over embeddings that have layers, or have none; adds to `joint` and
  /// `towers`.
  void towers(bool have_layers, ReferenceScores& s) const;
  std::vector<double> inputs_of(const spec::TowerSpec& tower, const ReferenceScores& s) const;
  double tower(const spec::TowerSpec& tower, ReferenceScores& s) const;
  std::vector<double> multiplied(const spec::TowerSpec& tower, ReferenceScores& s) const;
  std::vector<double> dhen(const spec::TowerSpec& tower, ReferenceScores& s) const;
  std::vector<double> crossed(const spec::TowerSpec& tower, std::vector<double> x0) const;
  std::vector<double> attended(const spec::TowerSpec& tower, ReferenceScores& s) const;
  void join(double score, ReferenceScores& s) const;
  bool has_mlp() const;  ///< over anything but embeddings
};

double reference_loss(double z, double label);

}  // namespace leveret::model
