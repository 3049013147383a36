/// A sink of gradients that adds them up, for who has only borrowed what it learns from
/// (dist::MeshLearner): sums of all who learn of a batch are then steps. With one head.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "optim/optimizer.h"
#include "tape/gradients.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::optim {

/// The sink of the tape while it lives. `common`, of common_floats zeros, gets the gradients of
/// what is no feature's, and the counts of examples; it must outlive this.
class Sums final : public tape::GradientSink {
 public:
  Sums(Optimizer& optimizer, tape::Parameters& parameters, tape::Tape& tape,
       std::span<float> common);
  ~Sums() override;
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  void layer(const tape::LayerGradient& gradient) override;
  /// std::logic_error: examples are whole.
  void columns(const tape::ColumnsGradient& gradient) override;
  void rows(std::size_t part, const tape::RowGradients& gradients) override;
  void cells(const tape::CellGradients& gradients) override;
  void array(tape::ArrayId id, const float* gradient) override;

  static std::size_t common_floats(const tape::Parameters& parameters);

  // After the way back.

  /// Adds to `common` what `layer` has not.
  void add_common();
  /// Calls visit(cell, gradient) for each cell of the batch.
  void visit_cells(const std::function<void(const table::Cell&, float)>& visit);
  /// Calls visit(part, row, sums) for each part of each row of the batch: a sum for each weight,
  /// which stays until the next call.
  void visit_rows(const std::function<void(std::size_t, const std::byte*, const float*)>& visit);

 private:
  Optimizer& optimizer_;
  tape::Parameters& parameters_;
  tape::Tape& tape_;
  std::span<float> common_;
};

/// The step by the common sums over all parts of a batch, and the counts of examples. Before the
/// rows' steps (RowOptimizer::step_row) and the cells' (CellOptimizer::step).
void step_common(Optimizer& optimizer, tape::Parameters& parameters, std::span<const float> sums);

}  // namespace leveret::optim
