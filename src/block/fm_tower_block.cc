#include "block/fm_tower_block.h"

#include <algorithm>

#include "block/embedding_block.h"

namespace leveret::block {

void FmTowerBlock::declare(const tape::Extent&, tape::Declarations& declarations) {
  d_ = config_.find_rows(Rows::Kind::kEmbedding)->part.used_k;
  fields_ = declarations.read(tower_.input);
  scale_ = declarations.find_tensor(EmbeddingBlock::kScale);
  sum_ = declarations.add(
      tape::Tensor{.name = tower_.name + ".sum", .size = static_cast<std::uint32_t>(d_)});
  score_.declare(config_, tower_, declarations);
}

void FmTowerBlock::forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
                           std::size_t end) const {
  const std::size_t numbers = parameters.layout.fields * d_;
  for (std::size_t b = begin; b < end; ++b) {
    const float* const e = tape[fields_.id].at(b);
    float* const sum = tape[sum_].at(b);
    std::fill_n(sum, d_, 0.0f);
    for (std::size_t f = 0; f < numbers; f += d_) kernels_->axpy(1.0f, e + f, d_, sum);
    const float pairs = 0.5f * (kernels_->dot(sum, sum, d_) - kernels_->dot(e, e, numbers));
    score_.put(tape, b, tape[scale_].values[b] * pairs);
  }
}

void FmTowerBlock::backward(const tape::Parameters& parameters, tape::Tape& tape) const {
  const std::size_t numbers = parameters.layout.fields * d_;
  float* const gradient = tape.tensors.d_of_reader(fields_, tape.size);
  const std::size_t stride = tape[fields_.id].d_stride;
  for (std::size_t b = 0; b < tape.size; ++b) {
    float* const d_e = gradient + b * stride;
    std::fill_n(d_e, stride, 0.0f);
    const float d = score_.error(tape, b) * tape[scale_].values[b];
    if (d == 0.0f) continue;
    const float *const e = tape[fields_.id].at(b), *const sum = tape[sum_].at(b);
    for (std::size_t f = 0; f < numbers; f += d_) {
      for (std::size_t c = 0; c < d_; ++c) d_e[f + c] = d * (sum[c] - e[f + c]);
    }
  }
  tape.tensors.add_d_of_reader(fields_, tape.size);
}

}  // namespace leveret::block
