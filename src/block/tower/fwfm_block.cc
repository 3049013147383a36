#include "block/tower/fwfm_block.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "block/dense/pair_products.h"
#include "block/embedding_block.h"
#include "block/tower/make_tower.h"

namespace leveret::block {
namespace {

/// Times the rate of layers: r has the gradients of all examples, which are small, and is far from
/// 1 where it matters.
constexpr float kRate = 60.0f;

}  // namespace

constinit const TowerKind kFwfmTower = {
    .word = "fwfm",
    .help = "products of all pairs of fields, each times a weight",
    .keys = {},
    .has_layers = false,
    .make = make_tower<FwfmBlock>};

void FwfmBlock::declare(const tape::Extent& layout, tape::Declarations& declarations) {
  d_ = config_.find_rows(Rows::Kind::kEmbedding)->part.used_k;
  fields_ = declarations.read(kEmbeddings);
  scale_ = declarations.find_tensor(EmbeddingBlock::kScale);
  mixed_ = declarations.add(
      tape::Tensor{.name = tower_.name + ".mixed", .size = declarations[fields_.id].size});
  score_.declare(config_, tower_, declarations);
  tape::LearnedArray r{tower_.name + ".r",
                       table::Learned::kParameter,
                       tape::Merge::kAdd,
                       {pair_count(layout.fields)}};
  r.first = [](std::uint32_t, std::uint32_t) { return 1.0f; };
  r_ = declarations.weights(std::move(r), config_.layers_rule->for_small_gradients(kRate));
}

void FwfmBlock::open(const tape::Parameters& parameters, std::size_t, tape::Tape& tape) const {
  tape.open_gradient(r_, parameters[r_].size());
}

void FwfmBlock::forward(const Run& run) const {
  const std::size_t fields = run.parameters.layout.fields;
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const float* const e = run.tape[fields_.id].at(b);
    float* const u = run.tape[mixed_].at(b);
    kernels_->mix_vectors(run.parameters[r_].data(), e, fields, d_, u);
    const float pairs = 0.5f * kernels_->dot(e, u, fields * d_);
    score_.put(run.tape, b, run.tape[scale_].values[b] * pairs);
  }
}

void FwfmBlock::finish_back(const Run& run) const {
  const std::size_t fields = run.parameters.layout.fields;
  float* const gradient = run.tape.gradient(r_);
  std::fill_n(gradient, run.parameters[r_].size(), 0.0f);
  float* const d_fields = run.tape.tensors.d_of_reader(fields_, run.tape.size);
  const std::size_t stride = run.tape[fields_.id].d_stride;
  for (std::size_t b = 0; b < run.tape.size; ++b) {
    float* const d_e = d_fields + b * stride;
    std::fill_n(d_e, stride, 0.0f);
    const float error = score_.error(run.tape, b) * run.tape[scale_].values[b];
    if (error == 0.0f) continue;
    kernels_->scale(run.tape[mixed_].at(b), fields * d_, error, d_e);
    kernels_->add_vector_dots(run.tape[fields_.id].at(b), fields, d_, error, gradient);
  }
  run.tape.tensors.add_d_of_reader(fields_, run.tape.size);
  if (run.tape.sink != nullptr) run.tape.sink->array(r_, gradient);
}

// ---- contexts and candidates ----

/// u_f of the candidates' fields f, summed over the context's fields g.
struct FwfmBlock::ContextPart final : CachedPart {
  std::vector<float> u;
  std::size_t bytes() const override { return sizeof *this + u.capacity() * sizeof(float); }
};

struct FwfmBlock::ContextShare final : Share {
  explicit ContextShare(const tape::FieldSplit& of) : split(&of) {}
  const tape::FieldSplit* split;
  std::vector<float> u;  ///< F * d
};

/// n fields, one behind the other.
struct FwfmBlock::CandidateShare final : Share {
  std::span<const std::uint32_t> fields;
  std::vector<float> r;     ///< of their pairs
  std::vector<float> e, u;  ///< n * d
  const ContextPart* context = nullptr;
};

void FwfmBlock::declare_sums(const tape::Extent&, std::uint32_t, const tape::Declarations&,
                             tape::SumDecls& sums) {
  if (!config_.in_contexts) return;
  sums_.embeddings = sums.find(EmbeddingBlock::kFields);
  sums_.pairs = sums.add({tower_.name + ".pairs", tower_.name});
}

std::unique_ptr<Share> FwfmBlock::share(const tape::Parameters& parameters,
                                        const tape::Partition& partition) const {
  if (partition.of == tape::Partition::Of::kContext) {
    return std::make_unique<ContextShare>(*partition.split);
  }
  if (partition.of != tape::Partition::Of::kCandidate) return nullptr;
  auto mine = std::make_unique<CandidateShare>();
  mine->fields = partition.split_fields();
  const std::span<const float> r = parameters[r_];
  for (const std::uint32_t g : mine->fields) {
    for (const std::uint32_t f : mine->fields) {
      if (f < g) mine->r.push_back(r[pair_count(g) + f]);
    }
  }
  mine->e.resize(mine->fields.size() * d_);
  mine->u.resize(mine->fields.size() * d_);
  return mine;
}

void FwfmBlock::partial(const Run& run) const {
  if (!config_.in_contexts) return;
  for (std::size_t b = run.begin; b < run.end; ++b) {
    const tape::SumsOf of = run.sums_of(b);
    const float* const e = of.all(sums_.embeddings).data();
    of[sums_.pairs] = run.partition->of == tape::Partition::Of::kContext
                          ? context_pairs(run.parameters, e, static_cast<ContextShare&>(*run.share))
                          : candidate_pairs(e, static_cast<CandidateShare&>(*run.share));
  }
}

float FwfmBlock::context_pairs(const tape::Parameters& parameters, const float* e,
                               ContextShare& share) const {
  const std::size_t fields = parameters.layout.fields;
  share.u.resize(fields * d_);
  kernels_->mix_vectors(parameters[r_].data(), e, fields, d_, share.u.data());
  return 0.5f * kernels_->dot(e, share.u.data(), fields * d_);
}

float FwfmBlock::candidate_pairs(const float* e, CandidateShare& share) const {
  const std::size_t n = share.fields.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(e + share.fields[i] * d_, d_, share.e.data() + i * d_);
  }
  kernels_->mix_vectors(share.r.data(), share.e.data(), n, d_, share.u.data());
  return 0.5f * kernels_->dot(share.e.data(), share.u.data(), n * d_) +
         kernels_->dot(share.e.data(), share.context->u.data(), n * d_);
}

std::unique_ptr<CachedPart> FwfmBlock::cache_context(const tape::Tape&, Share* share) const {
  const auto& mine = static_cast<const ContextShare&>(*share);
  auto part = std::make_unique<ContextPart>();
  part->u.reserve(mine.split->candidate.size() * d_);
  for (const std::uint32_t field : mine.split->candidate) {
    const float* const u = mine.u.data() + field * d_;
    part->u.insert(part->u.end(), u, u + d_);
  }
  return part;
}

void FwfmBlock::use_context(Share* candidates, CachedPart* context) const {
  static_cast<CandidateShare&>(*candidates).context = static_cast<const ContextPart*>(context);
}

void FwfmBlock::finish(const Run& run) const {
  if (!config_.in_contexts) return forward(run);
  for (std::size_t b = run.begin; b < run.end; ++b) {
    score_.put(run.tape, b, run.tape[scale_].values[b] * run.sums_of(b)[sums_.pairs]);
  }
}

}  // namespace leveret::block
