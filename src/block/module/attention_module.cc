#include "block/module/attention_module.h"

#include <algorithm>
#include <cmath>

#include "block/dense/relu.h"

namespace leveret::block {

AttentionModule::AttentionModule(const ModulePlace& place)
    : place_(place),
      head_count_(place.setting("heads")),
      project_(*place.kernels),
      join_heads_(*place.kernels),
      widen_(*place.kernels),
      narrow_(*place.kernels),
      first_norm_(*place.kernels),
      second_norm_(*place.kernels),
      mix_(*place.kernels) {}

Tokens AttentionModule::declare(const Tokens& in, const tape::Extent& extent,
                                tape::Declarations& declarations) {
  in_ = in;
  const Config& config = *place_.config;
  const std::uint32_t tokens = in.count(extent), d = in.width, wide = place_.setting("width");
  const auto tensor = [&](const char* what, std::uint32_t size, bool gradient) {
    return declarations.add(
        tape::Tensor{.name = place_.name + what, .size = size, .gradient = gradient});
  };
  projected_ = tensor(".projected", 3 * tokens * d, true);
  weights_ = tensor(".weights", head_count_ * tokens * tokens, false);
  scratch_ =
      declarations.add(tape::Tensor{.name = place_.name + ".scratch",
                                    .per = tape::Tensor::Per::kBatch,
                                    .size = static_cast<std::uint32_t>(shape(tokens).scratch())});
  heads_ = tensor(".heads", tokens * d, true);
  attended_ = in;
  attended_.id = tensor(".attended", tokens * d, true);
  project_.declare(place_.name + ".qkv", in.id, d, 3 * d, 1.0f, config, declarations,
                   /*bias=*/false);
  join_heads_.declare(place_.name + ".o", heads_, d, d, 1.0f, config, declarations, /*bias=*/false);
  y_ = first_norm_.declare(place_.name + ".norm1", place_.name + ".y", attended_, extent, config,
                           declarations);
  hidden_ = tensor(".hidden", tokens * wide, true);
  fed_ = in;
  fed_.id = tensor(".fed", tokens * d, true);
  widen_.declare(place_.name + ".ffn1", y_.id, d, wide, 2.0f, config, declarations);
  narrow_.declare(place_.name + ".ffn2", hidden_, wide, d, 1.0f, config, declarations);
  const Tokens z = second_norm_.declare(place_.name + ".norm2", place_.name + ".z", fed_, extent,
                                        config, declarations);
  return mix_.declare(place_.name, z, place_.tokens, extent, config, declarations);
}

void AttentionModule::open(const tape::Parameters& parameters, tape::Tape& tape) const {
  first_norm_.open(parameters, tape);
  second_norm_.open(parameters, tape);
}

AttentionShape AttentionModule::shape(std::size_t tokens) const {
  const std::size_t dim = in_.width / head_count_;
  return {tokens, head_count_, dim, std::size_t{3} * in_.width,
          1.0f / std::sqrt(static_cast<float>(dim))};
}

void AttentionModule::forward(const Run& run) const {
  const std::size_t tokens = in_.count(run.parameters.layout);
  const std::size_t numbers = run.tape.size * tokens * in_.width;
  project_.forward(run, tokens, run.tape[in_.id].values, run.tape[projected_].values);
  attend(run);
  float* const attended = run.tape[attended_.id].values;
  join_heads_.forward(run, tokens, run.tape[heads_].values, attended);
  place_.kernels->axpy(1.0f, run.tape[in_.id].values, numbers, attended);
  first_norm_.forward(run);
  float* const hidden = run.tape[hidden_].values;
  widen_.forward(run, tokens, run.tape[y_.id].values, hidden);
  relu(hidden, run.tape.size * run.tape[hidden_].stride);
  float* const fed = run.tape[fed_.id].values;
  narrow_.forward(run, tokens, hidden, fed);
  place_.kernels->axpy(1.0f, run.tape[y_.id].values, numbers, fed);
  second_norm_.forward(run);
  mix_.forward(run);
}

void AttentionModule::attend(const Run& run) const {
  const AttentionShape of = shape(in_.count(run.parameters.layout));
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    const float* const p = run.tape[projected_].at(b);
    float* const o = run.tape[heads_].at(b);
    std::fill_n(o, run.tape[heads_].stride, 0.0f);
    block::attend(*place_.kernels, of, {p, p + in_.width, p + 2 * in_.width},
                  run.tape[weights_].at(b), o, run.tape[scratch_].values);
  }
}

void AttentionModule::backward(const Run& run, float* d_in) const {
  const std::size_t tokens = in_.count(run.parameters.layout);
  const std::size_t numbers = run.tape.size * tokens * in_.width;
  const tape::TensorPlace &y = run.tape[y_.id], &hidden = run.tape[hidden_];
  const tape::TensorPlace &attended = run.tape[attended_.id], &fed = run.tape[fed_.id];
  mix_.backward(run, run.tape[second_norm_.out()].gradient);
  second_norm_.backward(run);
  narrow_.backward(run, tokens, hidden.values, fed.gradient, hidden.gradient);
  relu_back(hidden.values, run.tape.size * hidden.stride, hidden.gradient);
  widen_.backward(run, tokens, y.values, hidden.gradient, y.gradient);
  place_.kernels->axpy(1.0f, fed.gradient, numbers, y.gradient);
  first_norm_.backward(run);
  join_heads_.backward(run, tokens, run.tape[heads_].values, attended.gradient,
                       run.tape[heads_].gradient);
  attend_back(run);
  project_.backward(run, tokens, run.tape[in_.id].values, run.tape[projected_].gradient, d_in);
  place_.kernels->axpy(1.0f, attended.gradient, numbers, d_in);
}

void AttentionModule::attend_back(const Run& run) const {
  const AttentionShape of = shape(in_.count(run.parameters.layout));
  const std::size_t d = in_.width;
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    const float* const p = run.tape[projected_].at(b);
    float* const d_p = run.tape[projected_].d_at(b);
    std::fill_n(d_p, run.tape[projected_].d_stride, 0.0f);
    block::attend_back(*place_.kernels, of, {p, p + d, p + 2 * d}, run.tape[weights_].at(b),
                       run.tape[heads_].d_at(b), {d_p, d_p + d, d_p + 2 * d},
                       run.tape[scratch_].values);
  }
}

}  // namespace leveret::block
