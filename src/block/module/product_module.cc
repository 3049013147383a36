#include "block/module/product_module.h"

#include <cstddef>

#include "block/bound.h"

namespace leveret::block {
namespace {

constexpr float kMostSquare = 1e6f;

}  // namespace

Tokens ProductModule::declare(const Tokens& in, const tape::Extent& extent,
                              tape::Declarations& declarations) {
  const std::uint32_t wide = place_.setting("width"), made = place_.tokens * in.width;
  sums_ = mix_.declare(place_.name + ".sums", in, wide, extent, *place_.config, declarations,
                       /*bias=*/true);
  const auto tensor = [&](const std::string& name, std::uint32_t size) {
    return declarations.add(tape::Tensor{.name = name, .size = size, .gradient = true});
  };
  products_ = tensor(place_.name + ".products", wide);
  to_tokens_.declare(place_.name + ".w", products_, wide, made, 1.0f, *place_.config, declarations);
  out_ = {tensor(place_.name, made), in.width, place_.tokens};
  return out_;
}

void ProductModule::forward(const Run& run) const {
  mix_.forward(run);
  const std::size_t d = sums_.width, count = run.tape.size * sums_.fixed;
  const float* y = run.tape[sums_.id].values;
  float* const p = run.tape[products_].values;
  for (std::size_t i = 0; i < count; ++i, y += d) p[i] = place_.kernels->dot(y, y, d);
  bound(kMostSquare, p, count);
  to_tokens_.forward(run, 1, p, run.tape[out_.id].values);
}

void ProductModule::backward(const Run& run, float* d_in) const {
  const tape::TensorPlace &products = run.tape[products_], &sums = run.tape[sums_.id];
  to_tokens_.backward(run, 1, products.values, run.tape[out_.id].gradient, products.gradient);
  const std::size_t d = sums_.width, count = run.tape.size * sums_.fixed;
  for (std::size_t i = 0; i < count; ++i) {
    place_.kernels->scale(sums.values + i * d, d, 2.0f * products.gradient[i],
                          sums.gradient + i * d);
  }
  mix_.backward(run, d_in);
}

}  // namespace leveret::block
