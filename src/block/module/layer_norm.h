/// Layer normalisation of each token (Ba, Kiros and Hinton, Layer Normalization, 2016; DHEN paper,
/// equation 1), over its D numbers:
///   y = g ⊙ x^ + b,   x^ = (x - mean(x)) / sqrt(variance(x) + 1e-5).
/// On the way back, with c = g ⊙ d y:
///   d x = (c - mean(c) - x^ mean(c ⊙ x^)) / sqrt(variance(x) + 1e-5).
#pragma once

#include <string>

#include "block/module/module.h"

namespace leveret::block {

class LayerNorm {
 public:
  explicit LayerNorm(const kernels::Kernels& kernels) : kernels_(&kernels) {}

  /// `in`: tokens with a gradient, which is where the way back leaves d x. Its arrays are called
  /// NAME.…; it makes the tensor `out`, with a gradient.
  Tokens declare(const std::string& name, const std::string& out, const Tokens& in,
                 const tape::Extent& extent, const Config& config,
                 tape::Declarations& declarations);
  void open(const tape::Parameters& parameters, tape::Tape& tape) const;
  void forward(const Run& run) const;
  void backward(const Run& run) const;
  tape::TensorId out() const { return out_; }

 private:
  const kernels::Kernels* kernels_;
  Tokens in_;
  tape::TensorId out_ = tape::TensorId::kNone;
  tape::TensorId centred_ = tape::TensorId::kNone;                           ///< m * D: x^
  tape::TensorId scales_ = tape::TensorId::kNone;                            ///< m: 1 / deviation
  tape::ArrayId gain_ = tape::ArrayId::kNone, bias_ = tape::ArrayId::kNone;  ///< D
};

}  // namespace leveret::block
