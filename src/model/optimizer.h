/// The only writer of weights.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernels.h"
#include "model/ffm_block.h"
#include "model/model.h"
#include "model/tape.h"

namespace leveret::model {

/// Applies the gradients a Tape holds. Owned by one thread, with working memory of its own;
/// several threads may apply to one model at a time (hogwild: races on weights are by design).
///
/// A batch of one is applied from the factors on the tape. A larger batch sums the gradients of
/// each row, cell and layer in (example, feature) order first and applies each sum once.
///
/// A part whose gradient is exactly zero keeps its bits. A gradient component whose square is
/// not finite is dropped.
class Optimizer {
 public:
  /// `thread`: its number among those that learn side by side, each of which rounds by noise of its
  /// own.
  explicit Optimizer(const kernels::Kernels& kernels, std::uint32_t thread = 0)
      : kernels_(&kernels), ffm_(kernels), thread_(thread) {}

  void apply(Model& model, Tape& tape);

  /// Whether `backward_dense` may stand for MlpBlock::backward.
  static bool steps_on_the_way(const Spec& spec, const Tape& tape);
  /// MlpBlock::backward of all examples of a tape, at most kernels::kMostTogether, and one step of
  /// the dense layers. Who calls it sets Tape::dense_stepped of what `apply` gets.
  void backward_dense(Model& model, Tape& tape);

 private:
  // Linear stage (optimizer_linear.cc).
  void apply_linear(Model& model, const Tape& tape);
  void apply_linear_batch(Model& model, const Tape& tape);
  void step_cells(Model& model, const Tape& tape);
  void fit_steps(std::size_t count);
  void step_cell(const Spec& spec, float* cell, float g, float g2) const;
  void apply_bias(Model& model, const Tape& tape);
  void apply_groups(Model& model, const Tape& tape);
  void count_features(Model& model, const Tape& tape);
  void apply_mixers(Model& model, const Tape& tape);

  // FFM rows (optimizer_ffm.cc).
  void apply_ffm(Model& model, Tape& tape);
  void apply_ffm_in_place(Model& model, Tape& tape, const kernels::StepRule& rule);
  void apply_ffm_batch(Model& model, Tape& tape);
  void seed_noise(const Model& model);
  std::uint32_t next_noise();
  void step_row(const Model& model, const kernels::StepRule& rule, std::byte* row,
                const float* contra, const float* delta);
  template <class Visit>
  void each_row_gradient(const Model& model, Tape& tape, std::size_t b, Visit visit);

  // Dense layers (optimizer_dense.cc).
  void apply_dense(Model& model, const Tape& tape);
  void adam(const Spec& spec, std::uint64_t step, float* w, float* first, float* second,
            const float* g, std::size_t length) const;

  struct CellGradient {
    float* cell;
    float g, g2;
  };
  struct RowGradient {
    std::byte* row;
    std::uint32_t sum;    ///< place in row_sums_, in rows
    std::uint32_t first;  ///< `sum` of the row's first gradient in the batch
  };

  const kernels::Kernels* kernels_;
  FfmBlock ffm_;
  std::uint32_t thread_;
  std::vector<CellGradient> cells_;
  std::vector<float*> places_;       ///< of the second weights of an example's linear features
  std::vector<float> steps_, sums_;  ///< of its groups; or steps_ are gradients
  std::vector<RowGradient> row_gradients_;
  std::vector<float> row_sums_;
  std::vector<float> layer_sums_, output_gradients_;
  std::vector<float> delta_, self_, row_, state_;
  std::vector<std::byte*> accs_;
  std::uint64_t noise_ = 0;  ///< of stochastic rounding
};

}  // namespace leveret::model
