/// The pairs of an FFM that a partition of a model has, on the way forward and back.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <vector>

#include "block/block.h"
#include "block/ffm_pairs.h"
#include "tape/gradients.h"

namespace leveret::block {

class FfmShare final : public Share, public tape::RowGradients {
 public:
  /// Those of FfmBlock: `pairs` are the partition's own, `d_pair` is everyone's.
  struct Tensors {
    tape::TensorId pairs, d_pair;
  };
  /// `opposite`: see FfmPairs::set.
  FfmShare(const kernels::Kernels& kernels, const Config& config, std::size_t part,
           const std::vector<std::vector<std::uint32_t>>& opposite, Tensors tensors)
      : pairs_(kernels, config, part), tensors_(tensors) {
    pairs_.set(opposite);
  }

  bool empty() const { return pairs_.pairs().empty(); }
  /// Makes the pairs of example b; returns their sum.
  float forward(tape::Tape& tape, std::size_t b) {
    pairs_.gather(tape, b, at_);
    return pairs_.forward(tape, at_, tape[tensors_.pairs].at(b));
  }

  // The gradients of its slots, after FfmBlock::finish_back.

  std::size_t floats(const tape::Parameters&) const override { return pairs_.row_floats(); }
  void add(const tape::Parameters&, tape::Tape& tape, std::size_t b,
           float* const* sums) const override {
    const tape::TensorPlace& values = tape[tensors_.pairs];
    pairs_.gather(tape, b, at_);
    pairs_.add_gradients(tape, b, at_, tape[tensors_.d_pair].values[b],
                         values.gradient != nullptr ? values.d_at(b) : nullptr, sums);
  }
  void each(const tape::Parameters&, tape::Tape&, tape::RowVisitor&) const override {
    throw std::logic_error("a partition of a model learns in batches");
  }

 private:
  FfmPairs pairs_;
  Tensors tensors_;
  mutable PairsTape at_;  ///< of the example at hand
};

}  // namespace leveret::block
