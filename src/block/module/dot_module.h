/// u = W_m AdvancedDLRM(X) (DHEN paper, equation 3). The paper keeps AdvancedDLRM to itself; here
/// it is the dot interaction of DLRM (Naumov et al. 2019, section 2.1.3) and one layer over it:
///   p_fg = <x_f, x_g> of all tokens f < g,   h = ReLU(V p + c),   u = W_m h + b,
/// where h has `width` numbers, and W_m makes l D of them (section 2.3). DLRM keeps the
/// vector of its numeric features beside the products; here the shortcut keeps all tokens.
///
/// 2 m² D + m² width + 2 width l D floating point operations of an example.
#pragma once

#include "block/dense/dense_rows.h"
#include "block/module/module.h"

namespace leveret::block {

class DotModule final : public Module {
 public:
  explicit DotModule(const ModulePlace& place)
      : place_(place), layer_(*place.kernels), to_tokens_(*place.kernels) {}

  Tokens declare(const Tokens& in, const tape::Extent& extent,
                 tape::Declarations& declarations) override;
  void forward(const Run& run) const override;
  void backward(const Run& run, float* d_in) const override;

 private:
  ModulePlace place_;
  Tokens in_, out_;
  tape::TensorId scratch_ = tape::TensorId::kNone;  ///< of a batch: working memory
  /// m (m - 1) / 2: p; of a single token one number, 0, so that layers read something.
  tape::TensorId products_ = tape::TensorId::kNone;
  tape::TensorId hidden_ = tape::TensorId::kNone;  ///< width: h
  DenseRows layer_, to_tokens_;
};

}  // namespace leveret::block
