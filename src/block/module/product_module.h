/// Factorised inner products (Qu et al., Product-based Neural Networks, ICDM 2016, equations 8 to
/// 11): `width` of them, each of a weighted sum of all tokens with itself, which stands for a
/// matrix of rank 1 of weights of all pairs,
///   p_n = <y_n, y_n>,   y_n = sum over f of t_nf x_f + t_n,
/// and the tokens u = W_m p + b (DHEN paper, section 2.3). t_n, which the paper lacks, is added to
/// all numbers of y_n.
///
/// 2 width D (m + 1 + l) floating point operations of an example.
#pragma once

#include "block/dense/dense_rows.h"
#include "block/module/module.h"
#include "block/module/token_mix.h"

namespace leveret::block {

class ProductModule final : public Module {
 public:
  explicit ProductModule(const ModulePlace& place)
      : place_(place), mix_(*place.kernels), to_tokens_(*place.kernels) {}

  Tokens declare(const Tokens& in, const tape::Extent& extent,
                 tape::Declarations& declarations) override;
  void forward(const Run& run) const override;
  void backward(const Run& run, float* d_in) const override;

 private:
  ModulePlace place_;
  Tokens sums_, out_;                                ///< sums: width tokens, y
  tape::TensorId products_ = tape::TensorId::kNone;  ///< width: p
  TokenMix mix_;
  DenseRows to_tokens_;
};

}  // namespace leveret::block
