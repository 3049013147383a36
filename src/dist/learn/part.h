/// One shard of a model: the tables, group weights and first-layer columns that a plan gives it,
/// and its share of forward, backward and steps. It needs no message but the sums (SumLayout).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "block/ffm_block.h"
#include "block/ffm_pairs.h"
#include "block/fm_block.h"
#include "block/linear_block.h"
#include "block/mlp_block.h"
#include "block/norm_block.h"
#include "dist/learn/frame.h"
#include "dist/learn/part_batch.h"
#include "dist/plan/columns.h"
#include "dist/plan/plan.h"
#include "dist/plan/sum_layout.h"
#include "model/lookup.h"
#include "model/model.h"
#include "net/make_blocks.h"
#include "optim/optimizer.h"

namespace leveret::dist {

/// One thread. What it computes depends on the plan and its number alone, not on which rank has it.
class Part {
 public:
  /// `memory_limit`: bytes of its tables.
  Part(const Frame& frame, const Plan& plan, std::uint32_t number, std::uint64_t memory_limit,
       const kernels::Kernels& kernels);

  std::uint32_t number() const { return number_; }
  const table::Tables& tables() const { return model_.tables(); }
  table::Tables& tables() { return model_.tables(); }
  /// Its groups' weights are its own; others' stay at their first values.
  const tape::Parameters& parameters() const { return model_.parameters(); }
  tape::Parameters& parameters() { return model_.parameters(); }
  /// Of the first layer: of inputs that are normalised, and of the others.
  const Columns& normalised() const { return normalised_; }
  const Columns& others() const { return others_; }
  Columns& normalised() { return normalised_; }
  Columns& others() { return others_; }

  /// Makes shards and slots for all fields of the plan.
  void fit_tables();
  /// Gives group weights and columns the shapes that they have with so many fields.
  void fit(tape::Extent to);

  /// Looks up what it holds of a batch, which stays where it is until `learn`, and writes its sums:
  /// the column sums and those of all examples. `scalars` are those of the frame. For prediction
  /// nothing is counted, and what is not known stays unknown; `learn` does not follow.
  void forward(const PartBatch& batch, const tape::Scalars& scalars, const SumLayout& at,
               std::span<float> sums, model::Use use = model::Use::kLearn);
  /// The way back and its steps, after Frame::backward and before Frame::learn.
  void learn(const Frame& frame);

 private:
  std::shared_ptr<table::Tables> make_tables(const Frame& frame, std::uint64_t memory_limit) const;
  table::RowLayout row_layout(std::uint32_t field) const;
  bool has_layers() const;
  bool owns(std::uint32_t group) const { return plan_->group_owner(group) == number_; }
  bool has(const tape::Owner& owner) const;
  void open(const PartBatch& batch, model::Use use);
  void put_pairs(std::size_t b);
  void partial_of_blocks(const SumLayout& at, std::size_t b, std::span<float> sums);
  void put_inputs(std::size_t b);
  void layers_forward(const SumLayout& at, std::span<float> sums);
  void take_errors(const Frame& frame);
  void layers_backward(const Frame& frame);

  const Plan* plan_;
  std::uint32_t number_;
  const kernels::Kernels& kernels_;
  model::Model model_;
  block::Config config_;
  const net::Blocks blocks_;
  const block::LinearBlock& linear_;  ///< of these
  const block::FmBlock* const fm_;    ///< likewise; null: there is none
  const block::FfmBlock* const ffm_;
  const block::MlpBlock* const mlp_;
  block::FfmPairs pairs_;
  model::Lookup lookup_;
  optim::Optimizer optimizer_;
  Columns normalised_, others_;
  struct {
    tape::JoinColumns normalised, others;
  } inputs_of_;  ///< what these weigh
  tape::Portion portion_;
  tape::Tape tape_;
  block::PairsTape pairs_tape_;
  class SlotGradients;
  table::AlignedFloats inputs_, other_inputs_;  ///< B rows of Columns::width()
  table::AlignedFloats d_inputs_;
  std::vector<float> pair_values_;  ///< without layers: of one example
  std::vector<float> outputs_;      ///< B * h
};

}  // namespace leveret::dist
