#include "block/module/cross_module.h"

#include <cstddef>

namespace leveret::block {

Tokens CrossModule::declare(const Tokens& in, const tape::Extent& extent,
                            tape::Declarations& declarations) {
  in_ = in;
  const auto factor = [&](const char* what, TokenMix& mix) {
    return mix.declare(place_.name + what, in, place_.tokens, extent, *place_.config, declarations,
                       /*bias=*/true);
  };
  a_ = factor(".a", left_);
  c_ = factor(".c", right_);
  back_ = declarations.add(tape::Tensor{.name = place_.name + ".back", .size = in.size(extent)});
  out_ = a_;
  out_.id = declarations.add(
      tape::Tensor{.name = place_.name, .size = a_.size(extent), .gradient = true});
  return out_;
}

void CrossModule::forward(const Run& run) const {
  left_.forward(run);
  right_.forward(run);
  const float *const a = run.tape[a_.id].values, *const c = run.tape[c_.id].values;
  float* const out = run.tape[out_.id].values;
  const std::size_t count = run.tape.size * run.tape[out_.id].stride;
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] * c[i];
}

void CrossModule::backward(const Run& run, float* d_in) const {
  const tape::TensorPlace &a = run.tape[a_.id], &c = run.tape[c_.id];
  const float* const d_out = run.tape[out_.id].gradient;
  const std::size_t count = run.tape.size * a.stride;
  for (std::size_t i = 0; i < count; ++i) {
    a.gradient[i] = d_out[i] * c.values[i];
    c.gradient[i] = d_out[i] * a.values[i];
  }
  float* const back = run.tape[back_].values;
  right_.backward(run, back);
  left_.backward(run, d_in);
  place_.kernels->axpy(1.0f, back, run.tape.size * run.tape[in_.id].stride, d_in);
}

}  // namespace leveret::block
