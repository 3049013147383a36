#include "block/module/token_mix.h"

#include "block/dense/transpose.h"

namespace leveret::block {

Tokens TokenMix::declare(const std::string& name, const Tokens& in, std::uint32_t tokens,
                         const tape::Extent& extent, const Config& config,
                         tape::Declarations& declarations, bool bias) {
  in_ = in;
  in_columns_ = declarations.add(
      tape::Tensor{.name = name + ".in", .size = in.size(extent), .gradient = true});
  layer_.declare(name, in_columns_, in.count(extent), tokens, 1.0f, config, declarations, bias);
  const std::uint32_t made = tokens * in.width;
  out_columns_ = declarations.add(tape::Tensor{.name = name + ".made", .size = made});
  out_ = {declarations.add(tape::Tensor{.name = name, .size = made, .gradient = true}), in.width,
          tokens};
  return out_;
}

void TokenMix::forward(const Run& run) const {
  const std::size_t width = in_.width, count = run.tape.size;
  float* const columns = run.tape[in_columns_].values;
  float* const made = run.tape[out_columns_].values;
  transpose(count, run.tape[in_.id].values, in_.count(run.parameters.layout), width, columns);
  layer_.forward(run, width, columns, made);
  transpose(count, made, width, out_.fixed, run.tape[out_.id].values);
}

void TokenMix::backward(const Run& run, float* d_in) const {
  const std::size_t width = in_.width, count = run.tape.size;
  const tape::TensorPlace& columns = run.tape[in_columns_];
  float* const d_made = run.tape[out_columns_].values;  // what it made is read no more
  transpose(count, run.tape[out_.id].gradient, out_.fixed, width, d_made);
  layer_.backward(run, width, columns.values, d_made, columns.gradient);
  transpose(count, columns.gradient, width, in_.count(run.parameters.layout), d_in);
}

}  // namespace leveret::block
