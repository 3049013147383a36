/// One shard of a model: the tables, group weights and columns of layers that a plan gives it,
/// and its share of forward, backward and steps. It needs no message but the sums (SumLayout).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dist/learn/frame.h"
#include "dist/learn/part_batch.h"
#include "dist/plan/columns.h"
#include "dist/plan/plan.h"
#include "dist/plan/sum_layout.h"
#include "model/lookup.h"
#include "model/model.h"
#include "net/network.h"
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
  /// Of each layer that shards divide: those of inputs that are normalised, and of the others.
  const std::vector<Columns>& columns() const { return columns_; }
  std::vector<Columns>& columns() { return columns_; }

  /// Makes shards and slots for all fields of the plan.
  void fit_tables();
  /// Gives group weights and columns the shapes that they have with so many fields.
  void fit(tape::Extent to);

  /// Looks up what it holds of a batch, which stays where it is until `learn`, after Frame::open.
  /// For prediction nothing is counted, and what is not known stays unknown; `learn` does not
  /// follow.
  void open(const PartBatch& batch, Frame& frame, model::Use use = model::Use::kLearn);
  /// Writes its sums of a round, to all sums of the batch; those of the rounds before are whole.
  void partial(const SumLayout& at, std::uint32_t round, std::span<float> sums);
  /// The way back and its steps, after Frame::backward and before Frame::learn.
  void learn(const Frame& frame);

 private:
  std::shared_ptr<table::Tables> make_tables(const Frame& frame, std::uint64_t memory_limit) const;
  table::RowLayout row_layout(std::uint32_t field) const;
  bool owns(std::uint32_t group) const { return plan_->feature_group_owner(group) == number_; }
  void set_partition(tape::Extent to);
  void fit_columns(tape::Extent to);
  void take_common(const Frame& frame);

  const Plan* plan_;
  std::uint32_t number_;
  model::Model model_;
  block::Config config_;
  const net::Network network_;
  model::Lookup lookup_;
  optim::Optimizer optimizer_;
  std::vector<Columns> columns_;
  tape::Partition partition_;
  net::Shares shares_;
  tape::Tape tape_;
};

}  // namespace leveret::dist
