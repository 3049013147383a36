#include "block/module/dot_module.h"

#include <algorithm>
#include <cstddef>

#include "block/bound.h"
#include "block/dense/pair_products.h"
#include "block/dense/relu.h"

namespace leveret::block {
namespace {

constexpr float kMostProduct = 1e6f;

}  // namespace

Tokens DotModule::declare(const Tokens& in, const tape::Extent& extent,
                          tape::Declarations& declarations) {
  in_ = in;
  const std::uint32_t wide = place_.setting("width"), count = in.count(extent);
  const auto tensor = [&](const std::string& name, std::size_t size) {
    return declarations.add(
        tape::Tensor{.name = name, .size = static_cast<std::uint32_t>(size), .gradient = true});
  };
  const std::size_t pairs = count > 0 ? std::max<std::size_t>(pair_count(count), 1) : 0;
  scratch_ = declarations.add(
      tape::Tensor{.name = place_.name + ".scratch",
                   .per = tape::Tensor::Per::kBatch,
                   .size = static_cast<std::uint32_t>(pair_scratch(count, in.width))});
  products_ = tensor(place_.name + ".products", pairs);
  hidden_ = tensor(place_.name + ".hidden", wide);
  const std::uint32_t made = place_.tokens * in.width;
  layer_.declare(place_.name + ".v", products_, static_cast<std::uint32_t>(pairs), wide, 2.0f,
                 *place_.config, declarations);
  to_tokens_.declare(place_.name + ".w", hidden_, wide, made, 1.0f, *place_.config, declarations);
  out_ = {tensor(place_.name, made), in.width, place_.tokens};
  return out_;
}

void DotModule::forward(const Run& run) const {
  const std::size_t count = in_.count(run.parameters.layout);
  const tape::TensorPlace &products = run.tape[products_], &hidden = run.tape[hidden_];
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    float* const p = run.tape[products_].at(b);
    p[0] = 0;
    pair_products(*place_.kernels, run.tape[in_.id].at(b), count, in_.width, p,
                  run.tape[scratch_].values);
    bound(kMostProduct, p, products.stride);
  }
  layer_.forward(run, 1, products.values, hidden.values);
  relu(hidden.values, run.tape.size * hidden.stride);
  to_tokens_.forward(run, 1, hidden.values, run.tape[out_.id].values);
}

void DotModule::backward(const Run& run, float* d_in) const {
  const std::size_t count = in_.count(run.parameters.layout), numbers = count * in_.width;
  const tape::TensorPlace &products = run.tape[products_], &hidden = run.tape[hidden_];
  to_tokens_.backward(run, 1, hidden.values, run.tape[out_.id].gradient, hidden.gradient);
  relu_back(hidden.values, run.tape.size * hidden.stride, hidden.gradient);
  layer_.backward(run, 1, products.values, hidden.gradient, products.gradient);
  std::fill_n(d_in, run.tape.size * numbers, 0.0f);
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    pair_products_back(*place_.kernels, run.tape[in_.id].at(b), count, in_.width, products.d_at(b),
                       d_in + b * numbers, run.tape[scratch_].values);
  }
}

}  // namespace leveret::block
