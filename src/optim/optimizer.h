/// The only writer of weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "block/config.h"
#include "kernels/kernels.h"
#include "optim/array_optimizer.h"
#include "optim/cell_optimizer.h"
#include "optim/layer_optimizer.h"
#include "optim/row_optimizer.h"
#include "rules/learning.h"
#include "table/tables.h"
#include "tape/gradients.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::optim {

/// Gradients that blocks have handed on of a tape, used when the way back is through.
struct Handed {
  std::vector<const tape::RowGradients*> rows;  ///< by part; null: none
  tape::CellGradients cells;                    ///< without errors: none
  std::vector<std::pair<tape::ArrayId, const float*>> arrays;

  void clear();
  void put_rows(std::size_t part, const tape::RowGradients& gradients);
};

/// Moves arrays, cells, rows and layers by their rules. Owned by one thread, with working memory of
/// its own; several threads may learn one model at a time (hogwild: races on weights are by
/// design). Its users are the sinks of gradients: Steps (steps.h), and Sums (sums.h) for who has
/// only borrowed what it learns from.
///
/// A tape of one example steps from the factors of gradients. A larger batch sums the gradients of
/// each row, cell and layer in (example, feature) order first and steps by each sum once.
///
/// A part whose gradient is exactly zero keeps its bits. A gradient component whose square is
/// not finite is dropped.
class Optimizer {
 public:
  /// `thread`: its number among those that learn side by side, each of which rounds by noise of its
  /// own.
  Optimizer(const kernels::Kernels& kernels, const block::Config& config,
            const rules::Learning& learning, std::uint32_t thread = 0)
      : config_(config),
        arrays_(kernels, config),
        cells_(kernels, config, learning),
        rows_(kernels, config, learning.seed, thread),
        layers_(kernels, config) {}

  const block::Config& config() const { return config_; }
  ArrayOptimizer& arrays() { return arrays_; }
  CellOptimizer& cells() { return cells_; }
  RowOptimizer& rows() { return rows_; }
  LayerOptimizer& layers() { return layers_; }
  /// The gradients of the tape at hand.
  Handed& handed() { return handed_; }

 private:
  block::Config config_;
  ArrayOptimizer arrays_;
  CellOptimizer cells_;
  RowOptimizer rows_;
  LayerOptimizer layers_;
  Handed handed_;
};

}  // namespace leveret::optim
