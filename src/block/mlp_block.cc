#include "block/mlp_block.h"

#include <algorithm>
#include <memory>
#include <string>

#include "block/dense_products.h"
#include "block/layer_back.h"
#include "block/linear_block.h"
#include "block/make_tower.h"
#include "block/tower_score.h"
#include "tape/gradients.h"

namespace leveret::block {
namespace {

constexpr TowerKey kMlpKeys[] = {
    {"hidden", "64+32", 8192, "widths of its ReLU layers", /*is_list=*/true}};

}  // namespace

constinit const TowerKind kMlpTower = {.word = "mlp",
                                       .help = "ReLU layers",
                                       .keys = kMlpKeys,
                                       .in_groups = true,
                                       .over_any = true,
                                       .make = make_tower<MlpBlock>};

void MlpBlock::declare(const tape::Extent&, tape::Declarations& declarations) {
  first_layer_ = declarations.layers.size();
  input_ = declarations.read(tower_.input);
  ins_ = {input_.id};
  head_ = {declare_head(tower_, declarations), config_.mixed};
  const std::size_t hidden = hidden_.size();
  for (std::size_t l = 0; l <= hidden; ++l) {
    const std::string name = tower_.name + "." + std::to_string(l);
    tape::DenseInit init;
    init.seed = config_.seed;
    init.layer = static_cast<std::uint32_t>(first_layer_ + l);
    // The output neuron starts at zero: at first the tower adds nothing.
    init.gain = l < hidden ? 2.0f : 0.0f;
    const std::uint32_t outputs = l < hidden ? hidden_[l] : 1;
    tape::declare_dense(name, ins_[l], outputs, init, config_.layers_rule, declarations);
    const std::uint32_t size = declarations[ins_[l]].size > 0 ? outputs : 0;
    const tape::TensorId out =
        declarations.add(tape::Tensor{.name = name + ".out", .size = size, .gradient = true});
    if (l < hidden) {
      ins_.push_back(out);
    } else {
      score_ = out;
    }
  }
  const tape::Tensor& input = declarations[in(0)];
  merged_.reset();
  if (tower_.input == kMergedInputs && hidden > 0 && first_layer_ == 0) {
    merged_.emplace(*kernels_, config_);
    merged_->declare(tower_.name + ".0", hidden_[0], first_layer_, in(0), first(), declarations);
  }
  over_embeddings_.reset();
  if (config_.in_contexts && tower_.input == kEmbeddings && hidden > 0) {
    over_embeddings_.emplace(*kernels_);
    over_embeddings_->declare(tower_.name + ".0", hidden_[0], first_layer_, first(),
                              config_.find_rows(Rows::Kind::kEmbedding)->part.used_k);
  }
  reads_partitions_ =
      !merged_ && (input.owner != tape::Owner::Kind::kAll || input.name == kMergedInputs);
}

std::string MlpBlock::why_not_in_partitions() const {
  return reads_partitions_ ? "the tower " + tower_.name : "";
}

std::string MlpBlock::why_not_in_contexts() const {
  return reads_partitions_ ? "the tower " + tower_.name : "";
}

/// A neuron alone over embeddings. (One over cross layers goes with these.)
std::string MlpBlock::whole_for_candidates() const {
  return tower_.input == kEmbeddings && hidden_.empty() ? tower_.name : "";
}

void MlpBlock::declare_sums(const tape::Extent&, std::uint32_t shared,
                            const tape::Declarations& declared, tape::SumDecls& sums) {
  if (merged_) merged_->declare_sums(shared, declared, sums);
  if (over_embeddings_) over_embeddings_->declare_sums(sums);
}

std::unique_ptr<Share> MlpBlock::share(const tape::Parameters& parameters,
                                       const tape::Partition& partition) const {
  if (over_embeddings_) return over_embeddings_->share(parameters, partition);
  return merged_ ? merged_->share(parameters, partition) : nullptr;
}

void MlpBlock::partial(const tape::Parameters&, tape::Tape& tape, const tape::Partition&,
                       Share* share, std::size_t, std::size_t,
                       const tape::BatchSums<float>& sums) const {
  if (merged_) merged_->partial(tape, share, sums);
  if (over_embeddings_) over_embeddings_->partial(tape, share, sums);
}

void MlpBlock::finish(const tape::Parameters& parameters, tape::Tape& tape, Share* share,
                      std::size_t begin, std::size_t end,
                      const tape::BatchSums<const float>& sums) const {
  if (!merged_ && !over_embeddings_) return forward(parameters, tape, begin, end);
  if (merged_) merged_->finish(parameters, tape, share, sums);
  if (over_embeddings_) over_embeddings_->finish(parameters, tape, sums);
  forward_rest(parameters, tape, begin, end);
}

void MlpBlock::finish_back(const tape::Parameters& parameters, tape::Tape& tape,
                           Share* share) const {
  backward(parameters, tape);
  if (merged_) merged_->finish_back(parameters, tape, share);
}

void MlpBlock::partial_back(const tape::Parameters& parameters, tape::Tape& tape,
                            const tape::Partition&, Share* share) const {
  if (merged_) merged_->partial_back(parameters, tape, share);
}

void MlpBlock::forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
                       std::size_t end) const {
  if (layers() > 1) layer_forward(parameters, tape, 0, begin, end);
  forward_rest(parameters, tape, begin, end);
}

/// Layer l's outputs before ReLU.
void MlpBlock::layer_forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t l,
                             std::size_t begin, std::size_t end) const {
  const tape::TensorPlace& in = tape[ins_[l]];
  DenseProducts{kernels_, tape.gemm}.forward(layer(parameters, l), in.stride, in.at(begin),
                                             end - begin, tape[out(l)].at(begin));
}

void MlpBlock::forward_rest(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
                            std::size_t end) const {
  const std::size_t hidden = layers() - 1;
  for (std::size_t l = 0; l < hidden; ++l) {
    if (l > 0) layer_forward(parameters, tape, l, begin, end);
    tape::TensorPlace& made = tape[out(l)];
    float* const outs = made.at(begin);
    const std::size_t count = (end - begin) * made.stride;
    for (std::size_t o = 0; o < count; ++o) outs[o] = std::max(outs[o], 0.0f);
  }
  const tape::ConstDense last = layer(parameters, hidden);
  const tape::TensorPlace& in = tape[ins_[hidden]];
  float* const scores = tape[score_].values;
  for (std::size_t b = begin; b < end; ++b) {
    scores[b] = kernels_->dot(last.weights.data(), in.at(b), last.inputs);
    add_score(parameters, tape, b);
  }
}

void MlpBlock::add_score(const tape::Parameters& parameters, tape::Tape& tape,
                         std::size_t b) const {
  const float bias = layer(parameters, layers() - 1).bias[0];
  head_.put(tape, b, head_.before(tape, b) + bias + tape[score_].values[b]);
}

/// Layer by layer, all examples, the output neuron first.
void MlpBlock::backward(const tape::Parameters& parameters, tape::Tape& tape) const {
  clear_unlearned(tape, ins_);
  std::copy_n(head_.errors(tape), tape.size, tape[score_].gradient);
  for (std::size_t l = layers(); l-- > 0;) layer_backward(parameters, tape, l);
}

void MlpBlock::layer_backward(const tape::Parameters& parameters, tape::Tape& tape,
                              std::size_t l) const {
  tape::TensorPlace& from = tape[ins_[l]];
  const float* const in = from.values;
  const float* const d_out = tape[out(l)].gradient;
  float* const d_in = l == 0 ? tape.tensors.d_of_reader(input_, tape.size) : from.gradient;
  layer_back(*kernels_, parameters, tape, first_layer_ + l, from, d_out, d_in);
  if (l == 0) return tape.tensors.add_d_of_reader(input_, tape.size);
  const std::size_t count = tape.size * from.stride;
  for (std::size_t i = 0; i < count; ++i) d_in[i] = in[i] > 0.0f ? d_in[i] : 0.0f;
}

}  // namespace leveret::block
