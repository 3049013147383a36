/// How the linear stage's cells and its constants move.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "block/config.h"
#include "kernels/kernels.h"
#include "optim/distinct.h"
#include "rules/learning.h"
#include "table/slot.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::optim {

/// Owned by a thread, with working memory of its own.
class CellOptimizer {
 public:
  CellOptimizer(const kernels::Kernels& kernels, const block::Config& config,
                const rules::Learning& learning)
      : kernels_(&kernels), mixed_(config.mixed), constant_(config.constant), learning_(learning) {}

  /// One step of each cell of example b alone. What comes by group (CellGradients::d_groups) is
  /// that of the tape's only example: with it there are no per-example updates.
  void step_one(const tape::Tape& tape, const tape::CellGradients& gradients, std::size_t b);
  /// One step of each cell of the tape, by its sum over the examples.
  void step_batch(const tape::Parameters& parameters, const tape::Tape& tape,
                  const tape::CellGradients& gradients);
  void step_constants(tape::Scalars& scalars, const tape::LinearErrors& gradient) const;

  // With one head, of which a cell has one gradient.

  /// Calls visit(cell, sum) in place of the steps of step_batch.
  void visit_sums(const tape::Parameters& parameters, const tape::Tape& tape,
                  const tape::CellGradients& gradients,
                  const std::function<void(const table::Cell&, float)>& visit);
  void step(table::Cell& cell, float gradient) const;

 private:
  struct CellGradient {
    table::Cell* cell;
    float g = 0, g2 = 0, fast = 0;  ///< of its weights
    float fast_curvature = 0;       ///< see fast_head.h
  };
  rules::PartLearning linear_learning() const;
  bool is_simple() const;
  void step_cells(const tape::Tape& tape, const tape::CellGradients& gradients, std::size_t b);
  void step_cell(const CellGradient& sum) const;
  void step_mixed(const CellGradient& sum) const;
  void ftrl_step(table::FtrlCell& cell, float g) const;
  void sum_cells(const tape::Parameters& parameters, const tape::Tape& tape,
                 const tape::CellGradients& gradients);

  const kernels::Kernels* kernels_;
  bool mixed_, constant_;
  rules::Learning learning_;
  std::vector<CellGradient> cells_;  ///< of a batch, by number
  Distinct distinct_;
  std::vector<float*> weights_;   ///< an example's cells: the first of their weights
  std::vector<float> gradients_;  ///< of an example
};

}  // namespace leveret::optim
