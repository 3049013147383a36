/// The pairs of an example, forward and back, whatever set they are of.
#pragma once

#include <cstddef>

#include "ffm/example_rows.h"
#include "ffm/pair_set.h"
#include "kernels/kernels.h"
#include "tape/gradients.h"

namespace leveret::ffm {

/// Const; any number of threads, each with its ExampleRows.
class PairEngine {
 public:
  PairEngine(const kernels::Kernels& kernels, RowReader rows) : kernels_(&kernels), rows_(rows) {}

  const RowReader& rows() const { return rows_; }

  /// Makes the pairs of the set of example b, whose rows it leaves on `at`; returns their sum.
  float forward(const tape::Tape& tape, std::size_t b, const PairSet& set, ExampleRows& at,
                float* pairs, bool as_sums = false) const;

  /// The gradients of rows of the example that was gathered last, which is example b: d loss / d
  /// pair is `own`, and with `d` (not null) d[pair] more. Added as RowGradients::add does.
  void add_gradients(const tape::Tape& tape, std::size_t b, const PairSet& set, ExampleRows& at,
                     float own, const float* d, float* const* sums) const;
  /// The same of the tape's only example, row by row.
  void each_gradient(const tape::Tape& tape, const PairSet& set, ExampleRows& at, float own,
                     const float* d, tape::RowVisitor& visitor) const;

 private:
  float within(const tape::Tape& tape, ExampleRows& at, const ExampleRows::Several& field,
               std::size_t slot) const;
  void make_row_gradients(const PairSet& set, ExampleRows& at) const;
  template <class Take>
  void each_shared(const tape::Tape& tape, std::size_t b, const PairSet& set, ExampleRows& at,
                   float own, const float* d, Take take) const;

  const kernels::Kernels* kernels_;
  RowReader rows_;
};

}  // namespace leveret::ffm
