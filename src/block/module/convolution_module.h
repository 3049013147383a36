/// u = W Conv2d(X) (DHEN paper, equation 5): the tokens, one above the other, are an image of m by
/// D numbers. With C filters of 3 by 3 numbers, and zeros around the image,
///   y_kfc = ReLU(b_k + sum over i, j = -1, 0, 1 of w_kij x_{f+i, c+j}),
/// C images of m tokens each, and u = W Y over all C m of them (token_mix.h). The paper does not
/// give sizes of filters, nor what follows them: 3 by 3 and ReLU are ours.
///
/// 18 m D C + 2 C m l D floating point operations of an example.
#pragma once

#include "block/dense/dense_rows.h"
#include "block/module/module.h"
#include "block/module/token_mix.h"

namespace leveret::block {

class ConvolutionModule final : public Module {
 public:
  explicit ConvolutionModule(const ModulePlace& place)
      : place_(place),
        filters_(place.setting("filters")),
        filter_(*place.kernels),
        mix_(*place.kernels) {}

  Tokens declare(const Tokens& in, const tape::Extent& extent,
                 tape::Declarations& declarations) override;
  void forward(const Run& run) const override;
  void backward(const Run& run, float* d_in) const override;

 private:
  ModulePlace place_;
  std::uint32_t filters_;  ///< C
  Tokens in_;
  tape::TensorId patches_ = tape::TensorId::kNone;  ///< m * D * 9: what is around each number
  tape::TensorId made_ = tape::TensorId::kNone;     ///< m * D * C: y, filters side by side
  Tokens images_;  ///< those of token f, filter by filter, before those of token f + 1
  DenseRows filter_;
  TokenMix mix_;
};

}  // namespace leveret::block
