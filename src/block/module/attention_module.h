/// u = W TransformerEncoderLayer(X) (DHEN paper, equation 4). With H heads of D / H numbers each:
///   q = W_Q x, k = W_K x, v = W_V x of each token x, and o of its heads, side by side
///     (softmax_attention.h, with s = 1 / sqrt(D / H));
///   y = norm(x + W_O o);
///   z = norm(y + W_2 ReLU(W_1 y + b_1) + b_2), where W_1 makes `width` numbers
/// (Vaswani et al. 2017, sections 3.1 to 3.3, with the norms behind the sums, as there;
/// layer_norm.h), and u = W Z (token_mix.h). Nothing is dropped out.
///
/// 2 m D (4 D + 2 width) + 4 m² D + 2 m l D floating point operations of an example.
#pragma once

#include <string>

#include "block/dense/dense_rows.h"
#include "block/dense/softmax_attention.h"
#include "block/module/layer_norm.h"
#include "block/module/module.h"
#include "block/module/token_mix.h"

namespace leveret::block {

class AttentionModule final : public Module {
 public:
  explicit AttentionModule(const ModulePlace& place);

  Tokens declare(const Tokens& in, const tape::Extent& extent,
                 tape::Declarations& declarations) override;
  void open(const tape::Parameters& parameters, tape::Tape& tape) const override;
  void forward(const Run& run) const override;
  void backward(const Run& run, float* d_in) const override;

 private:
  AttentionShape shape(std::size_t tokens) const;
  void attend(const Run& run) const;
  void attend_back(const Run& run) const;

  ModulePlace place_;
  std::uint32_t head_count_;  ///< H, which divides D
  Tokens in_;
  tape::TensorId projected_ = tape::TensorId::kNone;  ///< m * 3 D: q, k and v of each token
  tape::TensorId weights_ = tape::TensorId::kNone;    ///< H * m * m: a
  tape::TensorId scratch_ = tape::TensorId::kNone;    ///< of a batch: working memory of attention
  tape::TensorId heads_ = tape::TensorId::kNone;      ///< m * D: o
  Tokens attended_;                                   ///< x + W_O o
  Tokens y_;
  tape::TensorId hidden_ = tape::TensorId::kNone;  ///< m * width: behind ReLU
  Tokens fed_;                                     ///< y + W_2 … + b_2
  DenseRows project_, join_heads_, widen_, narrow_;
  LayerNorm first_norm_, second_norm_;
  TokenMix mix_;
};

}  // namespace leveret::block
