#include "block/fwfm_block.h"

#include <algorithm>

#include "block/embedding_block.h"

namespace leveret::block {
namespace {

/// Times the rate of layers: r has the gradients of all examples, which are small, and is far from
/// 1 where it matters.
constexpr float kRate = 60.0f;

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
  const std::size_t fields = parameters.layout.fields;
  for (std::size_t b = begin; b < end; ++b) {
    const float* const e = tape[fields_.id].at(b);
    float* const u = tape[mixed_].at(b);
    kernels_->mix_vectors(parameters[r_].data(), e, fields, d_, u);
    const float pairs = 0.5f * kernels_->dot(e, u, fields * d_);
    score_.put(tape, b, tape[scale_].values[b] * pairs);
  }
}

void FwfmBlock::backward(const tape::Parameters& parameters, tape::Tape& tape) const {
  const std::size_t fields = parameters.layout.fields;
  float* const gradient = tape.gradients[static_cast<std::size_t>(r_)].data();
  std::fill_n(gradient, parameters[r_].size(), 0.0f);
  float* const d_fields = tape.tensors.d_of_reader(fields_, tape.size);
  const std::size_t stride = tape[fields_.id].d_stride;
  for (std::size_t b = 0; b < tape.size; ++b) {
    float* const d_e = d_fields + b * stride;
    std::fill_n(d_e, stride, 0.0f);
    const float error = score_.error(tape, b) * tape[scale_].values[b];
    if (error == 0.0f) continue;
    kernels_->scale(tape[mixed_].at(b), fields * d_, error, d_e);
    kernels_->add_vector_dots(tape[fields_.id].at(b), fields, d_, error, gradient);
  }
  tape.tensors.add_d_of_reader(fields_, tape.size);
  if (tape.sink != nullptr) tape.sink->array(r_, gradient);
}

}  // namespace leveret::block
