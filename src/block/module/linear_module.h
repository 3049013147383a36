/// u = W X (DHEN paper, equation 6; token_mix.h): each token made is a sum of all that come in.
#pragma once

#include "block/module/module.h"
#include "block/module/token_mix.h"

namespace leveret::block {

class LinearModule final : public Module {
 public:
  explicit LinearModule(const ModulePlace& place) : place_(place), mix_(*place.kernels) {}

  Tokens declare(const Tokens& in, const tape::Extent& extent,
                 tape::Declarations& declarations) override;
  void forward(const Run& run) const override { mix_.forward(run); }
  void backward(const Run& run, float* d_in) const override { mix_.backward(run, d_in); }

 private:
  ModulePlace place_;
  TokenMix mix_;
};

}  // namespace leveret::block
