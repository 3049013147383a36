#include "model/network.h"

#include "block/ffm_block.h"
#include "block/linear_block.h"
#include "block/loss_block.h"
#include "block/mlp_block.h"
#include "block/norm_block.h"

namespace leveret::model {
namespace {

template <class Vector>
void at_least(Vector& v, std::size_t size) {
  if (v.size() < size) v.resize(size);
}

}  // namespace

Network::Network(const block::Config& config, const kernels::Kernels& kernels) : config_(config) {
  blocks_.push_back(std::make_unique<block::LinearBlock>(kernels, config));
  if (config.has_ffm()) blocks_.push_back(std::make_unique<block::FfmBlock>(kernels, config));
  if (config.has_mlp()) blocks_.push_back(std::make_unique<block::NormBlock>(kernels, config));
  per_example_ = blocks_.size();
  if (config.has_mlp()) {
    blocks_.push_back(std::make_unique<block::MlpBlock>(kernels, config));
    mlp_ = blocks_.back().get();
  }
  blocks_.push_back(std::make_unique<block::LossBlock>(config));
  loss_ = blocks_.back().get();
}

void Network::open(const Parameters& parameters, std::size_t size, Tape& tape) const {
  open_per_example(parameters, size, tape);
  if (config_.has_mlp()) open_mlp(parameters, size, tape);
}

/// All but what the MLP needs.
void Network::open_per_example(const Parameters& parameters, std::size_t size, Tape& tape) const {
  const block::InputLayout layout = parameters.layout;
  tape.first = 0;
  tape.size = size;
  at_least(tape.scores, size);
  at_least(tape.group_linear, size * layout.groups());
  if (config_.mixed) {
    at_least(tape.group_counts, size * layout.groups());
    at_least(tape.group_seen, size * layout.groups());
  }
  if (!config_.has_ffm()) return;
  at_least(tape.ffm_scale, size);
  at_least(tape.pairs_sum, size);
  at_least(tape.pairs, size * layout.pairs() + kernels::Kernels::kSpare);
  if (!config_.has_mlp()) return;
  at_least(tape.d_group_linear, size * layout.groups());
  at_least(tape.norm_scale, size);
}

void Network::open_mlp(const Parameters& parameters, std::size_t size, Tape& tape) const {
  const std::size_t inputs = parameters.layout.stride(config_.mixed);
  at_least(tape.inputs_store, size * inputs);
  at_least(tape.d_inputs_store, size * inputs + kernels::Kernels::kSpare);
  tape.inputs = tape.inputs_store;
  tape.d_inputs = tape.d_inputs_store;
  at_least(tape.hidden, config_.hidden.size());
  at_least(tape.d_hidden, config_.hidden.size());
  for (std::size_t l = 0; l < config_.hidden.size(); ++l) {
    at_least(tape.hidden[l], size * config_.hidden[l]);
    at_least(tape.d_hidden[l], size * config_.hidden[l]);
  }
}

void Network::open_together(const Parameters& parameters, std::span<Tape> tapes,
                            Tape& joint) const {
  joint.size = tapes.size();
  at_least(joint.scores, joint.size);
  open_mlp(parameters, joint.size, joint);
  const std::size_t inputs = parameters.layout.stride(config_.mixed);
  for (std::size_t b = 0; b < tapes.size(); ++b) {
    open_per_example(parameters, 1, tapes[b]);
    tapes[b].inputs = joint.inputs.subspan(b * inputs);
    tapes[b].d_inputs = joint.d_inputs.subspan(b * inputs);
  }
}

void Network::forward(Blocks blocks, const Parameters& parameters, Tape& tape, std::size_t begin,
                      std::size_t end) const {
  for (const auto& block : blocks) {
    if (block->needs_fields() && parameters.layout.fields == 0) continue;
    block->forward(parameters, tape, begin, end);
  }
}

void Network::backward(Blocks blocks, const Parameters& parameters, Tape& tape) const {
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if ((*block)->needs_fields() && parameters.layout.fields == 0) continue;
    (*block)->backward(parameters, tape);
  }
}

void Network::forward(const Parameters& parameters, Tape& tape) const {
  forward(blocks_, parameters, tape, 0, tape.size);
}

void Network::forward_example(const Parameters& parameters, Tape& tape, std::size_t b) const {
  forward(per_example(), parameters, tape, b, b + 1);
}

void Network::forward_batched(const Parameters& parameters, Tape& tape) const {
  forward(batched(), parameters, tape, 0, tape.size);
}

void Network::backward(const Parameters& parameters, Tape& tape) const {
  backward(blocks_, parameters, tape);
}

void Network::learn(Model& model, Tape& tape, optim::Optimizer& optimizer) const {
  Parameters& parameters = model.parameters();
  const bool has_layers = mlp_ != nullptr && parameters.layout.fields > 0;
  if (has_layers && optimizer.steps_on_the_way(tape)) {
    loss_->backward(parameters, tape);
    optimizer.backward_dense(parameters, tape);
    tape.dense_stepped = true;
    backward(per_example(), parameters, tape);
  } else {
    backward(parameters, tape);
  }
  optimizer.apply(model.tables(), parameters, tape);
}

void Network::learn_together(Model& model, std::span<Tape> tapes, Tape& joint,
                             optim::Optimizer& optimizer) const {
  Parameters& parameters = model.parameters();
  if (parameters.layout.fields == 0) {
    for (Tape& tape : tapes) {
      forward_batched(parameters, tape);
      learn(model, tape, optimizer);
    }
    return;
  }
  for (std::size_t b = 0; b < joint.size; ++b) joint.scores[b] = tapes[b].scores[0];
  mlp_->forward(parameters, joint, 0, joint.size);
  for (std::size_t b = 0; b < joint.size; ++b) {
    tapes[b].scores[0] = joint.scores[b];
    loss_->forward(parameters, tapes[b], 0, 1);
    loss_->backward(parameters, tapes[b]);
    joint.scores[b].d_deep = tapes[b].scores[0].d_deep;
  }
  optimizer.backward_dense(parameters, joint);
  for (std::size_t b = 0; b < joint.size; ++b) {
    tapes[b].dense_stepped = true;
    backward(per_example(), parameters, tapes[b]);
    optimizer.apply(model.tables(), parameters, tapes[b]);
  }
}

}  // namespace leveret::model
