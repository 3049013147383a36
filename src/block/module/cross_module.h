/// u = W (X X') + b (DHEN paper, equation 7; there the layer's shortcut is the only skip). The paper
/// does not say how the product of all tokens becomes l of them. Here it is taken number by number:
/// each number c of a token made is a sum over all pairs of tokens,
///   u_jc = sum over f, g of W_jfg x_fc x_gc + …,
/// whose weights are products W_jfg = A_jf C_jg, as those of DCNv2's matrices are (Wang et al.,
/// DCN V2, WWW 2021, of rank 1):
///   u_j = (sum over f of A_jf x_f + a_j) ⊙ (sum over g of C_jg x_g + c_j).
/// a_j and c_j are numbers, and stand for b and for the linear terms.
///
/// 4 m l D floating point operations of an example.
#pragma once

#include "block/module/module.h"
#include "block/module/token_mix.h"

namespace leveret::block {

class CrossModule final : public Module {
 public:
  explicit CrossModule(const ModulePlace& place)
      : place_(place), left_(*place.kernels), right_(*place.kernels) {}

  Tokens declare(const Tokens& in, const tape::Extent& extent,
                 tape::Declarations& declarations) override;
  void forward(const Run& run) const override;
  void backward(const Run& run, float* d_in) const override;

 private:
  ModulePlace place_;
  Tokens in_, a_, c_, out_;  ///< a and c: the two factors
  TokenMix left_, right_;
  tape::TensorId back_ = tape::TensorId::kNone;  ///< m * D: what comes back through one factor
};

}  // namespace leveret::block
