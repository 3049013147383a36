/// The only writer of weights.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "block/config.h"
#include "block/ffm_block.h"
#include "block/ffm_pairs.h"
#include "kernels/kernels.h"
#include "optim/distinct.h"
#include "optim/learning.h"
#include "table/tables.h"
#include "tape/layer_step.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::optim {

using table::Cell;
using tape::Parameters;
using tape::Tape;

/// The rules by which arrays, cells and rows move, given the gradients that blocks have left on a
/// Tape. Owned by one thread, with working memory of its own; several threads may apply to one
/// model at a time (hogwild: races on weights are by design).
///
/// A batch goes: LayerSteps on the tape, the way back through the blocks, on which it takes the
/// layers' steps, and `apply`, which takes all others.
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
  Optimizer(const kernels::Kernels& kernels, const block::Config& config, const Learning& learning,
            std::uint32_t thread = 0)
      : kernels_(&kernels), config_(config), learning_(learning), thread_(thread) {}

  /// All steps but those of layers.
  void apply(table::Tables& tables, Parameters& parameters, Tape& tape);

  /// Where the examples of a batch take turns: the steps of all that blocks of turns learn, by
  /// example b alone, from its scores and what they left on the tape.
  void apply_turn(table::Tables& tables, Parameters& parameters, Tape& tape, std::size_t b);
  /// The steps of rows, by all examples, when each has had its turn.
  void apply_after_turns(Parameters& parameters, Tape& tape);

  /// The steps of layers, while it lives: it is the tape's LayerLearner. With `sums`, common_floats
  /// zeros, the layers' gradients are added there, and nothing moves.
  class LayerSteps final : public tape::LayerLearner {
   public:
    LayerSteps(Optimizer& optimizer, Parameters& parameters, Tape& tape,
               std::span<float> sums = {});
    ~LayerSteps() override;
    LayerSteps(const LayerSteps&) = delete;
    LayerSteps& operator=(const LayerSteps&) = delete;
    void take(const tape::LayerStep& step) override {
      sums_.empty() ? optimizer_.take_layer(parameters_, tape_, step)
                    : optimizer_.sum_layer(parameters_, tape_, step, sums_);
    }

   private:
    Optimizer& optimizer_;
    Parameters& parameters_;
    Tape& tape_;
    std::span<float> sums_;
  };

  /// A layer, or columns of one without biases of which somebody else has the others: its inputs,
  /// `width` floats from one example's to the next one's, and the gradients of all outputs.
  struct LayerPart {
    tape::Dense layer;
    const float* in;
    std::size_t width;
    const float* d_out;
  };
  /// What a part of a model has for FFM and layers.
  struct PartOf {
    const block::FfmPairs* pairs;  ///< null: none
    block::PairsTape* at;
    /// d loss / d pair through layers, `d_stride` from one example to the next; null: none.
    const float* d_pairs;
    std::size_t d_stride;
    std::span<const LayerPart> layers;  ///< columns of the same layer; none without layers
  };
  /// `apply` for a part of a model (src/dist), whose tables have some of its cells and some slots
  /// of its rows. `parameters`: its groups' weights, and Scalars as they were before the batch,
  /// which change as they do everywhere; without mixers.
  void apply_part(table::Tables& tables, Parameters& parameters, Tape& tape, const PartOf& part);

  // ---- sums in place of steps, for who has only borrowed what it learns from (dist::MeshLearner);
  // with one head ----

  /// Floats of the gradients of what is no feature's, and of the counts of examples.
  static std::size_t common_floats(const Parameters& parameters);
  /// Adds to `to` what LayerSteps has not, after the way back.
  static void sum_common(const Tape& tape, std::span<float> to);
  /// The step by such sums over all parts of a batch, and the counts of examples. Before the rows'
  /// steps.
  void step_common(Parameters& parameters, std::span<const float> sums);
  /// Calls visit(cell, gradient) for each cell of the batch.
  void sum_cells(const Parameters& parameters, const Tape& tape,
                 const std::function<void(const Cell&, float)>& visit);
  void step_cell(Cell& cell, float gradient) const;
  /// Calls visit(part, row, sums) for each part of each row of the batch: a sum for each weight,
  /// which stays until the next call.
  void sum_rows(const Parameters& parameters, Tape& tape,
                const std::function<void(std::size_t, const std::byte*, const float*)>& visit);
  /// What a feature with a row is called.
  struct RowName {
    std::uint32_t field;
    table::Key key;
  };
  /// `sums`: those of all parts, one behind the other.
  void step_row(const Parameters& parameters, const table::RowLayout& layout, RowName name,
                std::byte* row, const float* sums);

 private:
  static bool wants_to_learn(const Tape& tape, std::size_t b) {
    return tape.label(b) != 0.0f && tape.importance(b) > 0.0f;
  }
  static bool count_examples(Parameters& parameters, const Tape& tape, std::size_t begin,
                             std::size_t end);
  void apply_rows(Parameters& parameters, Tape& tape);

  // Linear stage (optimizer_linear.cc).
  PartLearning linear_learning() const;
  bool feeds_mlp() const { return !config_.mixed && config_.has_mlp(); }
  void apply_linear(Parameters& parameters, const Tape& tape, std::size_t b);
  void apply_linear_batch(Parameters& parameters, const Tape& tape);
  void step_cells(const Tape& tape, std::size_t b);
  void fit_steps(std::size_t count);
  struct CellGradient {
    Cell* cell;
    float g = 0, g2 = 0, fast = 0;  ///< of its weights
    float fast_curvature = 0;       ///< see fast_head.h
  };
  void step_cell(const CellGradient& sum) const;
  void sum_cells(const Parameters& parameters, const Tape& tape);
  void ftrl_step(table::FtrlCell& cell, float g) const;
  void step_constants(tape::Scalars& scalars, const tape::LinearErrors& d) const;
  void apply_vectors(Parameters& parameters, const Tape& tape);
  static void learn_values(table::Tables& tables, const Tape& tape, std::size_t b);
  void count_features(table::Tables& tables, Parameters& parameters, const Tape& tape,
                      std::size_t begin, std::size_t end);
  void apply_mixers(Parameters& parameters, const Tape& tape, std::size_t begin, std::size_t end);

  // FFM rows (optimizer_ffm.cc).
  void apply_ffm(const Parameters& parameters, Tape& tape);
  void apply_ffm_in_place(Tape& tape);
  void apply_ffm_batch(const Parameters& parameters, Tape& tape);
  void apply_pairs(const Parameters& parameters, Tape& tape, const PartOf& part);
  struct BatchRow;
  using VisitRow = std::function<void(const BatchRow&, const float*)>;
  template <class AddGradients, class Step>
  void each_row_sum(const Tape& tape, std::size_t row_floats, AddGradients add, Step step);
  void sum_slots(const Parameters& parameters, Tape& tape, const VisitRow& visit);
  void start_singles(const Tape& tape, std::size_t b);
  void meet_rows(const Tape& tape);
  float* sum_of_row(std::uint32_t number);
  void step_by_sum(const table::RowLayout& layout, const BatchRow& row, const float* sum);
  void seed_noise(const Parameters& parameters);
  std::uint32_t noise_of(RowName name) const;
  std::uint32_t next_noise();
  void step_row(const table::RowLayout& layout, std::byte* row, const float* contra,
                const float* delta) {
    step_part(layout, 0, config_.ffm_rule, row, contra, delta);
  }
  void step_floats(const table::RowLayout& layout, std::size_t part, kernels::StepRule rule,
                   const std::byte* row, const float* contra, const float* delta);
  void step_part(const table::RowLayout& layout, std::size_t part, kernels::StepRule rule,
                 std::byte* row, const float* contra, const float* delta);

  // Vectors of rows (optimizer_rows.cc).
  void apply_row_vectors(const Parameters& parameters, const Tape& tape);
  void step_vectors(const Tape& tape, std::size_t part);
  void step_summed_vectors(const Tape& tape, std::size_t part);
  void sum_vectors(const Tape& tape, std::size_t part, const VisitRow& visit);
  void step_vector_by_sum(const table::RowLayout& layout, std::size_t part, const BatchRow& row,
                          const float* sum);
  void seed_noise_of_vectors(const Parameters& parameters, std::size_t part);
  void step_vector(const table::RowLayout& layout, std::size_t part, std::byte* row,
                   const float* gradient);

  // Dense layers (optimizer_dense.cc).
  void take_layer(Parameters& parameters, const Tape& tape, const tape::LayerStep& step);
  bool in_one_pass(const Tape& tape) const;
  void pass_layer(Parameters& parameters, const tape::LayerStep& at);
  void apply_layer(const tape::Scalars& scalars, const Tape& tape, const LayerPart& at);
  struct NeuronSum {
    std::size_t fired;      ///< in so many examples; 0: there is no gradient
    float bias;             ///< gradient
    const float* gradient;  ///< of the weights
  };
  bool sum_together(const Tape& tape, const LayerPart& at);
  NeuronSum sum_of_neuron(const Tape& tape, const LayerPart& at, std::uint32_t o, bool together);
  void step_neuron(const tape::Scalars& scalars, const tape::Dense& layer, std::uint32_t o,
                   const NeuronSum& sum) const;
  void sum_layer(Parameters& parameters, const Tape& tape, const tape::LayerStep& step,
                 std::span<float> to);
  void adam(std::uint64_t step, float* w, float* first, float* second, const float* g,
            std::size_t length) const;

  /// A row that a batch learns.
  struct BatchRow {
    std::byte* row;
    std::uint32_t field;
    std::uint32_t noise;      ///< of its step
    std::uint32_t times = 0;  ///< it comes in the batch
    std::uint32_t sum = 0;    ///< where it comes several times: which of row_sums_
  };
  /// One that comes once: its sum is of one example, after which it takes its step.
  struct SingleRow {
    std::uint32_t number;
    float* sum;
  };

  const kernels::Kernels* kernels_;
  block::Config config_;
  Learning learning_;
  std::uint32_t thread_;
  std::vector<CellGradient> cells_;
  std::vector<float*> weights_;             ///< an example's cells: the first of their weights
  std::vector<float> steps_, sums_;         ///< of its groups; or steps_ are gradients
  Distinct distinct_;                       ///< cells, then rows, of a batch
  std::vector<BatchRow> rows_;              ///< by number
  std::vector<std::uint32_t> row_numbers_;  ///< by feature of a field
  std::size_t row_floats_ = 0;              ///< from one of the sums to the next
  table::AlignedFloats row_sums_;           ///< of rows that come several times
  table::AlignedFloats single_sums_;        ///< of an example's others
  std::vector<SingleRow> singles_;          ///< of the example
  std::vector<float> layer_sums_;
  std::vector<float> delta_, row_, state_;
  std::vector<std::byte*> accs_;
  std::uint64_t noise_ = 0;  ///< of stochastic rounding
};

}  // namespace leveret::optim
