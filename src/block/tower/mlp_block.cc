#include "block/tower/mlp_block.h"

#include <algorithm>
#include <memory>
#include <string>

#include "block/dense/dense_products.h"
#include "block/dense/layer_back.h"
#include "block/tower/make_tower.h"
#include "block/tower/tower_score.h"

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

void MlpBlock::declare(const tape::Extent& extent, tape::Declarations& declarations) {
  first_layer_ = declarations.layers.size();
  ins_.clear();
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
    if (l == 0) {
      // The bias of the output neuron comes with the score (add_score).
      first_.declare({name, outputs, init, config_.layers_rule, /*bias=*/hidden > 0},
                     joined_inputs(config_, tower_.inputs), extent, declarations);
      ins_.push_back(first_.in());
    } else {
      tape::declare_dense(name, ins_[l], outputs, init, config_.layers_rule, declarations);
    }
    const std::uint32_t size = declarations[ins_[l]].size > 0 ? outputs : 0;
    const tape::TensorId out =
        declarations.add(tape::Tensor{.name = name + ".out", .size = size, .gradient = true});
    if (l < hidden) {
      ins_.push_back(out);
    } else {
      score_ = out;
    }
  }
}

void MlpBlock::declare_sums(const tape::Extent&, std::uint32_t shared,
                            const tape::Declarations& declared, tape::SumDecls& sums) {
  first_.declare_sums(shared, declared, sums);
}

std::unique_ptr<Share> MlpBlock::share(const tape::Parameters& parameters,
                                       const tape::Partition& partition) const {
  return first_.share(parameters, partition);
}

// ---- forward ----

void MlpBlock::forward(const Run& run) const {
  first_.join(run);
  layer_forward(run.parameters, run.tape, 0, run.begin, run.end);
  forward_behind_first(run.parameters, run.tape, run.begin, run.end);
}

void MlpBlock::partial(const Run& run) const { first_.partial(run); }

void MlpBlock::finish(const Run& run) const {
  if (!first_.is_divided()) return forward(run);
  first_.finish(run, run.tape[out(0)].values);
  forward_behind_first(run.parameters, run.tape, run.begin, run.end);
}

/// Layer l's outputs before ReLU; the output neuron's without its bias.
void MlpBlock::layer_forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t l,
                             std::size_t begin, std::size_t end) const {
  const tape::TensorPlace& in = tape[ins_[l]];
  const tape::ConstDense of = layer(parameters, l);
  float* const outs = tape[out(l)].at(begin);
  if (l + 1 < layers()) {
    return DenseProducts{kernels_, tape.gemm}.forward(of, in.stride, in.at(begin), end - begin,
                                                      outs);
  }
  for (std::size_t b = begin; b < end; ++b) {
    outs[b - begin] = kernels_->dot(of.weights.data(), in.at(b), of.inputs);
  }
}

/// All that follows the first layer's outputs.
void MlpBlock::forward_behind_first(const tape::Parameters& parameters, tape::Tape& tape,
                                    std::size_t begin, std::size_t end) const {
  for (std::size_t l = 1; l < layers(); ++l) {
    const tape::TensorPlace& made = tape[ins_[l]];
    float* const outs = tape[ins_[l]].at(begin);
    const std::size_t count = (end - begin) * made.stride;
    for (std::size_t o = 0; o < count; ++o) outs[o] = std::max(outs[o], 0.0f);
    layer_forward(parameters, tape, l, begin, end);
  }
  for (std::size_t b = begin; b < end; ++b) add_score(parameters, tape, b);
}

void MlpBlock::add_score(const tape::Parameters& parameters, tape::Tape& tape,
                         std::size_t b) const {
  const float bias = layer(parameters, layers() - 1).bias[0];
  head_.put(tape, b, head_.before(tape, b) + bias + tape[score_].values[b]);
}

// ---- back ----

void MlpBlock::backward(const Run& run) const {
  backward_to_first(run.parameters, run.tape);
  first_.backward(run, run.tape[out(0)].gradient);
}

void MlpBlock::finish_back(const Run& run) const {
  if (!first_.is_divided()) return backward(run);
  backward_to_first(run.parameters, run.tape);
  first_.finish_back(run, run.tape[out(0)].gradient);
}

void MlpBlock::partial_back(const Run& run) const {
  first_.partial_back(run, run.tape[out(0)].gradient);
}

/// Layer by layer, all examples, the output neuron first, up to the gradients of the first one's
/// outputs.
void MlpBlock::backward_to_first(const tape::Parameters& parameters, tape::Tape& tape) const {
  clear_unlearned(tape, ins_);
  std::copy_n(head_.errors(tape), tape.size, tape[score_].gradient);
  for (std::size_t l = layers(); l-- > 1;) {
    tape::TensorPlace& from = tape[ins_[l]];
    layer_back(*kernels_, parameters, tape, first_layer_ + l, from, tape[out(l)].gradient,
               from.gradient);
    const std::size_t count = tape.size * from.stride;
    for (std::size_t i = 0; i < count; ++i) {
      from.gradient[i] = from.values[i] > 0.0f ? from.gradient[i] : 0.0f;
    }
  }
}

}  // namespace leveret::block
