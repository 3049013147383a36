/// l tokens of m, number by number (DHEN paper, equation 6, and W of equations 2, 4, 5):
///   u_j = sum over f of W_jf x_f,
/// and, if it has biases, + b_j, a number for all of u_j. A norm behind it would take these away
/// again (layer_norm.h). Each of the D numbers of a token is a row of m that passes a fully
/// connected layer: 2 D l m floating point operations.
#pragma once

#include <cstdint>
#include <string>

#include "block/dense/dense_rows.h"
#include "block/module/module.h"

namespace leveret::block {

class TokenMix {
 public:
  explicit TokenMix(const kernels::Kernels& kernels) : layer_(kernels) {}

  /// Makes the tensor NAME of `tokens` tokens with a gradient.
  Tokens declare(const std::string& name, const Tokens& in, std::uint32_t tokens,
                 const tape::Extent& extent, const Config& config, tape::Declarations& declarations,
                 bool bias = false);
  void forward(const Run& run) const;
  /// From the gradient of what it makes; writes d_in, B * m * D.
  void backward(const Run& run, float* d_in) const;

 private:
  Tokens in_, out_;
  // in_ and out_ transposed: each token is a column.
  tape::TensorId in_columns_ = tape::TensorId::kNone, out_columns_ = tape::TensorId::kNone;
  DenseRows layer_;
};

}  // namespace leveret::block
