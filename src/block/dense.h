/// Weights of one fully connected layer.
#pragma once

#include <cstdint>
#include <functional>

#include "table/aligned.h"

namespace leveret::block {

/// `outputs` rows of `inputs` weights, a bias per row, optimizer state beside every one of them.
/// Each row begins on a cache line; what stands between a row's end and the next is 0 and stays 0.
/// Owned by the model; written by Optimizer alone.
struct Dense {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  table::AlignedFloats weights;         ///< outputs * stride()
  table::AlignedFloats bias;            ///< outputs
  table::AlignedFloats weights_state;   ///< as weights: AdaGrad's sum, or Adam's second moment
  table::AlignedFloats bias_state;      ///< as bias
  table::AlignedFloats weights_moment;  ///< Adam's first moment; empty without Adam
  table::AlignedFloats bias_moment;

  /// Floats from one row to the next.
  std::size_t stride() const { return table::whole_lines(inputs); }
};

struct DenseInit {
  std::uint64_t seed = 0;
  std::uint32_t layer = 0;
  float gain =
      2.0f;  ///< variance of the weights times inputs (He et al. 2015: 2 for ReLU; 0: zeros)
  float init_acc = 1.0f;
  bool moments = false;
};

Dense make_dense(std::uint32_t inputs, std::uint32_t outputs, const DenseInit& init);

/// The same layer with other inputs: column i of the new one is column source(i) of the old one, or
/// new, with first weights, where source(i) is kNewColumn.
inline constexpr std::uint32_t kNewColumn = 0xffffffffu;
Dense with_inputs(const Dense& old, std::uint32_t inputs,
                  const std::function<std::uint32_t(std::uint32_t)>& source, const DenseInit& init);

}  // namespace leveret::block
