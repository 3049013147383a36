#include "block/fwfm_block.h"

#include <algorithm>

#include "block/embedding_block.h"

namespace leveret::block {
namespace {

/// Times the rate of layers: r has the gradients of all examples, which are small, and is far from
/// 1 where it matters.
constexpr float kRate = 60.0f;

/// In four sums, which compilers keep in one register.
float product(const float* a, const float* b, std::size_t d) {
  float sums[4] = {};
  std::size_t c = 0;
  for (; c + 4 <= d; c += 4) {
    for (std::size_t i = 0; i < 4; ++i) sums[i] += a[c + i] * b[c + i];
  }
  for (; c < d; ++c) sums[0] += a[c] * b[c];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

void FwfmBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  d_ = config_.find_rows(Rows::Kind::kEmbedding)->part.used_k;
  fields_ = declarations.read(tower_.input);
  scale_ = declarations.find_tensor(EmbeddingBlock::kScale);
  mixed_ = declarations.add(
      tape::Tensor{.name = tower_.name + ".mixed", .size = declarations[fields_.id].size});
  score_.declare(config_, tower_, declarations);
  const std::uint64_t pairs = std::uint64_t{layout.fields} * (layout.fields - 1) / 2;
  const auto one = [](std::uint32_t, std::uint32_t) { return 1.0f; };
  tape::LearnedArray r{tower_.name + ".r",
                       table::Learned::kParameter,
                       tape::Merge::kAdd,
                       {layout.fields > 0 ? pairs : 0}};
  tape::LearnedArray sums{tower_.name + ".r_sums", table::Learned::kState, tape::Merge::kSum,
                          r.shape};
  r.first = sums.first = one;
  r.rule = tape::Rule::kAdagrad;
  r.rate = kRate * config_.towers_rate;
  r_ = declarations.add(std::move(r));
  const tape::ArrayId of_r = declarations.add(std::move(sums));
  declarations.arrays[static_cast<std::size_t>(r_)].sums = of_r;
}

void FwfmBlock::open(const tape::Parameters& parameters, std::size_t, tape::Tape& tape) const {
  const auto id = static_cast<std::size_t>(r_);
  tape::at_least(tape.gradients, id + 1);
  tape::at_least(tape.gradients[id], parameters[r_].size());
}

void FwfmBlock::forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
                        std::size_t end) const {
  const std::size_t fields = parameters.layout.fields, d = d_;
  for (std::size_t b = begin; b < end; ++b) {
    const float* const e = tape[fields_.id].at(b);
    float* const u = tape[mixed_].at(b);
    std::fill_n(u, fields * d, 0.0f);
    const float* r = parameters[r_].data();
    for (std::size_t g = 1; g < fields; ++g) {
      for (std::size_t f = 0; f < g; ++f, ++r) {
        const float *const e_f = e + f * d, *const e_g = e + g * d;
        float *const u_f = u + f * d, *const u_g = u + g * d;
        for (std::size_t c = 0; c < d; ++c) u_g[c] += *r * e_f[c];
        for (std::size_t c = 0; c < d; ++c) u_f[c] += *r * e_g[c];
      }
    }
    score_.put(tape, b, tape[scale_].values[b] * 0.5f * product(e, u, fields * d));
  }
}

void FwfmBlock::backward(const tape::Parameters& parameters, tape::Tape& tape) const {
  const std::size_t fields = parameters.layout.fields, d = d_;
  float* const gradient = tape.gradients[static_cast<std::size_t>(r_)].data();
  std::fill_n(gradient, parameters[r_].size(), 0.0f);
  float* const d_fields = tape.tensors.d_of_reader(fields_, tape.size);
  const std::size_t stride = tape[fields_.id].d_stride;
  for (std::size_t b = 0; b < tape.size; ++b) {
    float* const d_e = d_fields + b * stride;
    std::fill_n(d_e, stride, 0.0f);
    const float error = score_.error(tape, b) * tape[scale_].values[b];
    if (error == 0.0f) continue;
    const float *const e = tape[fields_.id].at(b), *const u = tape[mixed_].at(b);
    for (std::size_t i = 0; i < fields * d; ++i) d_e[i] = error * u[i];
    float* to = gradient;
    for (std::size_t g = 1; g < fields; ++g) {
      for (std::size_t f = 0; f < g; ++f) *to++ += error * product(e + f * d, e + g * d, d);
    }
  }
  tape.tensors.add_d_of_reader(fields_, tape.size);
  if (tape.sink != nullptr) tape.sink->array(r_, gradient);
}

}  // namespace leveret::block
