#include "block/module/convolution_module.h"

#include <algorithm>
#include <cstddef>

#include "block/dense/relu.h"
#include "block/dense/transpose.h"

namespace leveret::block {
namespace {

constexpr std::size_t kSide = 3, kPatch = kSide * kSide;

/// Calls visit(place in the patches, place in the image) of each number around each number of an
/// image of rows by columns.
template <class Visit>
void each_of_patches(std::size_t rows, std::size_t columns, const Visit& visit) {
  std::size_t patch = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t i = 0; i < kSide; ++i) {
        for (std::size_t j = 0; j < kSide; ++j, ++patch) {
          const bool inside = r + i >= 1 && r + i <= rows && c + j >= 1 && c + j <= columns;
          if (inside) visit(patch, (r + i - 1) * columns + c + j - 1);
        }
      }
    }
  }
}

}  // namespace

Tokens ConvolutionModule::declare(const Tokens& in, const tape::Extent& extent,
                                  tape::Declarations& declarations) {
  in_ = in;
  const std::uint32_t numbers = in.size(extent);
  const auto tensor = [&](const char* what, std::uint32_t size) {
    return declarations.add(
        tape::Tensor{.name = place_.name + what, .size = size, .gradient = true});
  };
  patches_ = tensor(".patches", numbers * kPatch);
  made_ = tensor(".filtered", numbers * filters_);
  filter_.declare(place_.name + ".filters", patches_, kPatch, filters_, 2.0f, *place_.config,
                  declarations);
  images_ = {tensor(".images", numbers * filters_), in.width, in.fixed * filters_, filters_,
             in.before * filters_};
  return mix_.declare(place_.name, images_, place_.tokens, extent, *place_.config, declarations);
}

void ConvolutionModule::forward(const Run& run) const {
  const std::size_t tokens = in_.count(run.parameters.layout), d = in_.width;
  const std::size_t numbers = tokens * d;
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    float* const patches = run.tape[patches_].at(b);
    const float* const x = run.tape[in_.id].at(b);
    std::fill_n(patches, numbers * kPatch, 0.0f);
    each_of_patches(tokens, d, [&](std::size_t to, std::size_t from) { patches[to] = x[from]; });
  }
  float* const made = run.tape[made_].values;
  filter_.forward(run, numbers, run.tape[patches_].values, made);
  relu(made, run.tape.size * numbers * filters_);
  transpose(run.tape.size * tokens, made, d, filters_, run.tape[images_.id].values);
  mix_.forward(run);
}

void ConvolutionModule::backward(const Run& run, float* d_in) const {
  const std::size_t tokens = in_.count(run.parameters.layout), d = in_.width;
  const std::size_t numbers = tokens * d;
  const tape::TensorPlace &made = run.tape[made_], &images = run.tape[images_.id];
  mix_.backward(run, images.gradient);
  transpose(run.tape.size * tokens, images.gradient, filters_, d, made.gradient);
  relu_back(made.values, run.tape.size * numbers * filters_, made.gradient);
  const tape::TensorPlace& patches = run.tape[patches_];
  filter_.backward(run, numbers, patches.values, made.gradient, patches.gradient);
  std::fill_n(d_in, run.tape.size * numbers, 0.0f);
  for (std::size_t b = 0; b < run.tape.size; ++b, d_in += numbers) {
    const float* const d_patches = patches.d_at(b);
    each_of_patches(tokens, d,
                    [&](std::size_t from, std::size_t to) { d_in[to] += d_patches[from]; });
  }
}

}  // namespace leveret::block
