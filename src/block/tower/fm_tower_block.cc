#include "block/tower/fm_tower_block.h"

#include <algorithm>

#include "block/embedding_block.h"
#include "block/tower/make_tower.h"

namespace leveret::block {
namespace {

constexpr const char* kFmPairs[] = {"fields", "all"};
constexpr TowerKey kFmKeys[] = {{"pairs", "fields", 0,
                                 "of fields, or of all features, those of a field among them",
                                 false, kFmPairs}};

}  // namespace

constinit const TowerKind kFmTower = {.word = "fm",
                                      .help = "products of all pairs, as DeepFM has them",
                                      .keys = kFmKeys,
                                      .has_layers = false,
                                      .make = make_tower<FmTowerBlock>};

void FmTowerBlock::declare(const tape::Extent&, tape::Declarations& declarations) {
  d_ = config_.find_rows(Rows::Kind::kEmbedding)->part.used_k;
  in_ = declarations.read(all_ ? EmbeddingBlock::kSums : EmbeddingBlock::kOwnFields);
  scale_ = declarations.find_tensor(EmbeddingBlock::kScale);
  if (!all_) {
    sum_ = declarations.add(
        tape::Tensor{.name = tower_.name + ".sum", .size = static_cast<std::uint32_t>(d_)});
  }
  score_.declare(config_, tower_, declarations);
}

void FmTowerBlock::forward(const Run& run) const {
  const std::size_t numbers = run.parameters.layout.fields * d_;
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const float* const in = run.tape[in_.id].at(b);
    if (all_) {
      put_score(run.tape, b, in, in[d_]);
      continue;
    }
    float* const sum = run.tape[sum_].at(b);
    std::fill_n(sum, d_, 0.0f);
    for (std::size_t f = 0; f < numbers; f += d_) kernels_->axpy(1.0f, in + f, d_, sum);
    put_score(run.tape, b, sum, kernels_->dot(in, in, numbers));
  }
}

void FmTowerBlock::put_score(tape::Tape& tape, std::size_t b, const float* sum,
                             float squares) const {
  const float pairs = 0.5f * (kernels_->dot(sum, sum, d_) - squares);
  score_.put(tape, b, tape[scale_].values[b] * pairs);
}

void FmTowerBlock::declare_sums(const tape::Extent&, std::uint32_t, const tape::Declarations&,
                                tape::SumDecls& sums) {
  if (all_) return;
  sums_.vector = sums.add({tower_.name + ".sum", tower_.name, static_cast<std::uint32_t>(d_)});
  sums_.squares = sums.add({tower_.name + ".squares", tower_.name});
}

void FmTowerBlock::partial(const Run& run) const {
  if (all_) return;
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    for (std::size_t field = 0; field < run.partition->homes.size(); ++field) {
      if (!run.partition->homes[field]) continue;
      const float* const e = run.tape[in_.id].at(b) + field * d_;
      kernels_->axpy(1.0f, e, d_, of.all(sums_.vector).data());
      of[sums_.squares] += kernels_->dot(e, e, d_);
    }
  }
}

void FmTowerBlock::finish(const Run& run) const {
  if (all_) return forward(run);
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    std::ranges::copy(of.all(sums_.vector), run.tape[sum_].at(b));
    put_score(run.tape, b, run.tape[sum_].at(b), of[sums_.squares]);
  }
}

void FmTowerBlock::embeddings_back(const Run& run) const {
  float* const gradient = run.tape.tensors.d_of_reader(in_, run.tape.size);
  const std::size_t stride = run.tape[in_.id].d_stride;
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    float* const d_in = gradient + b * stride;
    std::fill_n(d_in, stride, 0.0f);
    const float d = score_.error(run.tape, b) * run.tape[scale_].values[b];
    if (d == 0.0f) continue;
    const float* const in = run.tape[in_.id].at(b);
    if (all_) {
      for (std::size_t c = 0; c < d_; ++c) d_in[c] = d * in[c];
      d_in[d_] = -0.5f * d;
      continue;
    }
    const float* const sum = run.tape[sum_].at(b);
    for (std::size_t f = 0; f < run.parameters.layout.fields * d_; f += d_) {
      for (std::size_t c = 0; c < d_; ++c) d_in[f + c] = d * (sum[c] - in[f + c]);
    }
  }
  run.tape.tensors.add_d_of_reader(in_, run.tape.size);
}

}  // namespace leveret::block
