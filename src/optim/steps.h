/// A sink of gradients that learns at once.
#pragma once

#include <cstddef>
#include <vector>

#include "optim/optimizer.h"
#include "table/tables.h"
#include "tape/gradients.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::optim {

/// The sink of the tape while it lives: layers take their steps on the way back, all else steps in
/// `finish` or, with per-example updates, by finish_example and finish_after_examples. An
/// optimizer has one at a time for what is handed on; layers may step on another tape meanwhile.
class Steps final : public tape::GradientSink {
 public:
  /// `columns`: of layers, in the order of Partition::columns.
  Steps(Optimizer& optimizer, table::Tables& tables, tape::Parameters& parameters, tape::Tape& tape,
        std::vector<tape::LearnedDense> columns = {});
  ~Steps() override;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  void layer(const tape::LayerGradient& gradient) override;
  void rows(std::size_t part, const tape::RowGradients& gradients) override;
  void cells(const tape::CellGradients& gradients) override;
  void array(tape::ArrayId id, const float* gradient) override;
  void columns(const tape::ColumnsGradient& gradient) override;

  void finish();
  /// After the way back of example b alone, through the blocks with per-example updates.
  void finish_example(std::size_t b);
  /// After the way back of all examples through the others.
  void finish_after_examples();

 private:
  bool count_examples(std::size_t begin, std::size_t end);
  void step_rows();
  void step_arrays();
  void step_rest(std::size_t begin, std::size_t end, bool alone);

  Optimizer& optimizer_;
  table::Tables& tables_;
  tape::Parameters& parameters_;
  tape::Tape& tape_;
  std::vector<tape::LearnedDense> columns_;
  float warmth_;  ///< before the batch's examples are counted, as layers have it (warmup.h)
};

}  // namespace leveret::optim
