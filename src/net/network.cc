#include "net/network.h"

#include <algorithm>
#include <utility>

#include "optim/steps.h"

namespace leveret::net {

Network::Network(const block::Config& config, Blocks blocks)
    : updates_per_example_(config.per_example_updates),
      has_one_round_(declare_sums(blocks, {}, 0).rounds() == 1),
      blocks_(std::move(blocks)) {
  const auto layers =
      std::ranges::find_if(blocks_, [](const auto& block) { return block->has_layers(); });
  before_batched_ = static_cast<std::size_t>(layers - blocks_.begin());
}

bool Network::can_be_divided() const {
  return std::ranges::none_of(
      blocks_, [](const auto& block) { return block->split() == block::Split::kWhole; });
}

std::string Network::why_not_in_contexts() const {
  if (!can_be_divided()) return "a block that needs whole examples";
  return has_one_round_ ? "" : "a block whose sums come in rounds";
}

void Network::open(const Parameters& parameters, std::size_t size, Tape& tape) const {
  tape.first = 0;
  tape.size = size;
  tape.open(parameters.shared_declared(), size);
  for (const auto& block : blocks_) block->open(parameters, size, tape);
}

void Network::open_together(const Parameters& parameters, std::span<Tape> tapes,
                            Tape& joint) const {
  joint.size = tapes.size();
  joint.open(parameters.shared_declared(), joint.size);
  for (const auto& block : batched()) block->open(parameters, joint.size, joint);
  for (std::size_t b = 0; b < tapes.size(); ++b) {
    tapes[b].first = 0;
    tapes[b].size = 1;
    tapes[b].open_in(joint, parameters.declared(), b);
    for (const auto& block : before_batched()) block->open(parameters, 1, tapes[b]);
  }
}

void Network::forward(Some blocks, const Parameters& parameters, Tape& tape, std::size_t begin,
                      std::size_t end) {
  for (const auto& block : blocks) {
    if (!rests(*block, parameters)) block->forward({parameters, tape, begin, end});
  }
}

void Network::backward(Some blocks, const Parameters& parameters, Tape& tape) {
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (!rests(**block, parameters)) (*block)->backward({parameters, tape, 0, tape.size});
  }
}

void Network::forward(const Parameters& parameters, Tape& tape) const {
  forward(blocks_, parameters, tape, 0, tape.size);
}

void Network::forward_example(const Parameters& parameters, Tape& tape, std::size_t b) const {
  forward(before_batched(), parameters, tape, b, b + 1);
}

void Network::forward_batched(const Parameters& parameters, Tape& tape) const {
  forward(batched(), parameters, tape, 0, tape.size);
}

void Network::backward(const Parameters& parameters, Tape& tape) const {
  backward(blocks_, parameters, tape);
}

void Network::learn(table::Tables& tables, Parameters& parameters, Tape& tape,
                    optim::Optimizer& optimizer) const {
  if (updates_per_example_) return learn_per_example(tables, parameters, tape, optimizer);
  optim::Steps steps(optimizer, tables, parameters, tape);
  backward(parameters, tape);
  steps.finish();
}

void Network::learn_per_example(table::Tables& tables, Parameters& parameters, Tape& tape,
                                optim::Optimizer& optimizer) const {
  optim::Steps steps(optimizer, tables, parameters, tape);
  for (std::size_t b = 0; b < tape.size; ++b) update_example(parameters, tape, b, steps);
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if (rests(**block, parameters) || (*block)->updates_per_example()) continue;
    (*block)->backward({parameters, tape, 0, tape.size});
  }
  steps.finish_after_examples();
}

/// Rescores example b: blocks with per-example updates anew, others from their stored outputs.
void Network::rescore_example(const Parameters& parameters, Tape& tape, std::size_t b) const {
  for (const auto& block : blocks_) {
    if (rests(*block, parameters)) continue;
    block->updates_per_example() ? block->forward({parameters, tape, b, b + 1})
                                 : block->add_score(parameters, tape, b);
  }
}

void Network::update_example(const Parameters& parameters, Tape& tape, std::size_t b,
                             optim::Steps& steps) const {
  rescore_example(parameters, tape, b);
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if ((*block)->updates_per_example()) (*block)->backward({parameters, tape, b, b + 1});
  }
  steps.finish_example(b);
}

void Network::learn_together(table::Tables& tables, Parameters& parameters, std::span<Tape> tapes,
                             Tape& joint, optim::Optimizer& optimizer) const {
  if (parameters.layout.fields == 0) {
    for (Tape& tape : tapes) {
      forward_batched(parameters, tape);
      learn(tables, parameters, tape, optimizer);
    }
    return;
  }
  for (const auto& block : batched()) {
    if (!block->has_layers()) {
      for (Tape& tape : tapes) block->forward({parameters, tape, 0, 1});
      continue;
    }
    block->forward({parameters, joint, 0, joint.size});
  }
  const optim::Steps layers(optimizer, tables, parameters, joint);
  for (std::size_t i = blocks_.size(); i-- > before_batched_;) {
    const Block& block = *blocks_[i];
    if (!block.has_layers()) {
      for (Tape& tape : tapes) block.backward({parameters, tape, 0, 1});
      continue;
    }
    for (std::size_t b = 0; b < joint.size; ++b) joint.learn[b] = tapes[b].learn[0];
    block.backward({parameters, joint, 0, joint.size});
  }
  for (Tape& tape : tapes) {
    optim::Steps steps(optimizer, tables, parameters, tape);
    backward(before_batched(), parameters, tape);
    steps.finish();
  }
}

}  // namespace leveret::net
