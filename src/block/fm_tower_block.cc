#include "block/fm_tower_block.h"

#include <algorithm>

#include "block/embedding_block.h"
#include "block/make_tower.h"

namespace leveret::block {

constinit const TowerKind kFmTower = {.word = "fm",
                                      .help = "products of all pairs of fields, as DeepFM has them",
                                      .keys = {},
                                      .has_layers = false,
                                      .make = make_tower<FmTowerBlock>};

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
    put_score(tape, b, kernels_->dot(e, e, numbers));
  }
}

void FmTowerBlock::put_score(tape::Tape& tape, std::size_t b, float squares) const {
  const float* const sum = tape[sum_].at(b);
  const float pairs = 0.5f * (kernels_->dot(sum, sum, d_) - squares);
  score_.put(tape, b, tape[scale_].values[b] * pairs);
}

void FmTowerBlock::declare_sums(const tape::Extent&, std::uint32_t, const tape::Declarations&,
                                tape::SumDecls& sums) {
  if (!config_.in_contexts) return;
  sums_.embeddings = sums.find(EmbeddingBlock::kFields);
  sums_.vector = sums.add({tower_.name + ".sum", tower_.name, static_cast<std::uint32_t>(d_)});
  sums_.squares = sums.add({tower_.name + ".squares", tower_.name});
}

void FmTowerBlock::partial(const tape::Parameters&, tape::Tape&, const tape::Partition& partition,
                           Share*, std::size_t begin, std::size_t end,
                           const tape::BatchSums<float>& sums) const {
  if (!config_.in_contexts) return;
  for (std::size_t b = begin; b < end; ++b) {
    const tape::SumsOf<float> of = sums[b];
    const float* const all = of.all(sums_.embeddings).data();
    for (const std::uint32_t field : partition.split_fields()) {
      const float* const e = all + field * d_;
      kernels_->axpy(1.0f, e, d_, of.all(sums_.vector).data());
      of[sums_.squares] += kernels_->dot(e, e, d_);
    }
  }
}

void FmTowerBlock::finish(const tape::Parameters& parameters, tape::Tape& tape, Share*,
                          std::size_t begin, std::size_t end,
                          const tape::BatchSums<const float>& sums) const {
  if (!config_.in_contexts) return forward(parameters, tape, begin, end);
  for (std::size_t b = begin; b < end; ++b) {
    const tape::SumsOf<const float> of = sums[b];
    std::ranges::copy(of.all(sums_.vector), tape[sum_].at(b));
    put_score(tape, b, of[sums_.squares]);
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
