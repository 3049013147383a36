#include "block/module/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace leveret::block {
namespace {

constexpr float kTokenEpsilon = 1e-5f;

}  // namespace

Tokens LayerNorm::declare(const std::string& name, const std::string& out, const Tokens& in,
                          const tape::Extent& extent, const Config& config,
                          tape::Declarations& declarations) {
  in_ = in;
  const auto array = [&](const char* what, float first) {
    tape::LearnedArray made{.name = name + what, .shape = {in.width}};
    made.first = [first](std::uint32_t, std::uint32_t) { return first; };
    return declarations.weights(std::move(made), config.layers_rule);
  };
  gain_ = array(".gain", 1.0f);
  bias_ = array(".bias", 0.0f);
  centred_ = declarations.add(tape::Tensor{.name = name + ".centred", .size = in.size(extent)});
  scales_ = declarations.add(tape::Tensor{.name = name + ".scales", .size = in.count(extent)});
  out_ = declarations.add(tape::Tensor{.name = out, .size = in.size(extent), .gradient = true});
  Tokens made = in;
  made.id = out_;
  return made;
}

void LayerNorm::open(const tape::Parameters&, tape::Tape& tape) const {
  tape.open_gradient(gain_, in_.width);
  tape.open_gradient(bias_, in_.width);
}

void LayerNorm::forward(const Run& run) const {
  const std::size_t d = in_.width, tokens = run.tape.size * in_.count(run.parameters.layout);
  const float* const gain = run.parameters[gain_].data();
  const float* const bias = run.parameters[bias_].data();
  const float* x = run.tape[in_.id].values;
  float* centred = run.tape[centred_].values;
  float* y = run.tape[out_].values;
  for (std::size_t t = 0; t < tokens; ++t, x += d, centred += d, y += d) {
    const float count = static_cast<float>(d);
    const float squares = kernels_->centre(x, d, kernels_->total(x, d) / count, centred);
    const float scale = 1.0f / std::sqrt(squares / count + kTokenEpsilon);
    run.tape[scales_].values[t] = scale;
    for (std::size_t c = 0; c < d; ++c) {
      centred[c] *= scale;
      y[c] = gain[c] * centred[c] + bias[c];
    }
  }
}

void LayerNorm::backward(const Run& run) const {
  const std::size_t d = in_.width, tokens = run.tape.size * in_.count(run.parameters.layout);
  const float* const gain = run.parameters[gain_].data();
  float* const d_gain = run.tape.gradient(gain_);
  float* const d_bias = run.tape.gradient(bias_);
  std::fill_n(d_gain, d, 0.0f);
  std::fill_n(d_bias, d, 0.0f);
  const float* centred = run.tape[centred_].values;
  const float* d_y = run.tape[out_].gradient;
  float* d_x = run.tape[in_.id].gradient;
  for (std::size_t t = 0; t < tokens; ++t, centred += d, d_y += d, d_x += d) {
    for (std::size_t c = 0; c < d; ++c) {
      d_gain[c] += d_y[c] * centred[c];
      d_bias[c] += d_y[c];
      d_x[c] = gain[c] * d_y[c];
    }
    const float count = static_cast<float>(d);
    const float mean = kernels_->total(d_x, d) / count;
    const float along = kernels_->dot(d_x, centred, d) / count;
    kernels_->normalise_back(centred, d, mean, along, run.tape[scales_].values[t], d_x);
  }
  if (run.tape.sink == nullptr) return;
  run.tape.sink->array(gain_, d_gain);
  run.tape.sink->array(bias_, d_bias);
}

}  // namespace leveret::block
