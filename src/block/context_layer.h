/// MergeNorm and the first hidden layer of a request: what the context's inputs add is made once.
///
/// The layer is linear, so that goes through the normalisation, too: with W of the normalised
/// inputs p, whose mean is m and deviation d, W (p - m) / d = (W_c p_c + W_r p_r - m W 1) / d for
/// the context's inputs and the rest of them, which a candidate decides; m and d come from sums of
/// both. What is large and common to all would cancel: so of all p the context's mean is subtracted
/// first. (The mean of the squares of what is left is then at least its own mean's square.)
#pragma once

#include <cstdint>

#include "block/block.h"
#include "block/field_split.h"
#include "block/merge_norm.h"
#include "block/mlp_block.h"

namespace leveret::block {

/// One thread's. It has a copy of the layer, its columns in FieldSplit's order.
class ContextLayer {
 public:
  ContextLayer(const kernels::Kernels& kernels, const tape::Parameters& parameters,
               const FieldSplit& split, const MlpBlock& mlp);

  /// The part that a context adds.
  struct Kept {
    double sum = 0, squares = 0;  ///< of its normalised inputs, less their mean
    float mean = 0;
    table::AlignedFloats part;         ///< W_c (p_c - mean)
    table::AlignedFloats as_they_are;  ///< biases, and what inputs add that are not normalised
  };

  /// Example b of the tape, after LinearBlock and FfmBlock, is the context.
  void keep(const tape::Parameters& parameters, const tape::Tape& tape, std::size_t b, Kept& kept);

  /// Floats from one candidate's inputs to the next one's.
  std::size_t stride() const { return candidate_.stride(); }
  /// Puts the inputs of example b, a candidate, behind its pairs, which are there.
  void put_inputs(const tape::Tape& tape, std::size_t b, float* inputs) const {
    candidate_.columns.gather(tape.tensors, b, false, inputs);
  }
  /// Normalises a candidate's inputs in place, as far as the model does; zeros up to the stride.
  /// `mean` is that of what is left when the context's mean was subtracted.
  Norm<float> normalise(const Kept& kept, float* inputs) const;

  /// The layer's outputs before ReLU, of several candidates, whose inputs are stride() apart.
  void forward(const Kept& kept, const float* inputs, const Norm<float>* norms,
               std::size_t examples, float* out) const;

 private:
  const kernels::Kernels& kernels_;
  const MlpBlock& mlp_;
  const std::uint32_t normalised_;  ///< inputs of the whole layer that are
  /// Some of the layer's columns, as a layer lies in memory.
  struct Columns {
    tape::JoinColumns columns;
    table::AlignedFloats weights;
    std::size_t stride() const { return table::whole_lines(columns.size()); }
  };
  static Columns columns_of(const tape::ConstDense& layer, tape::JoinColumns columns);

  Columns candidate_, context_;
  table::AlignedFloats ones_;    ///< W 1, by output
  table::AlignedFloats bias_;    ///< of the layer
  table::AlignedFloats inputs_;  ///< of the context at hand
};

}  // namespace leveret::block
