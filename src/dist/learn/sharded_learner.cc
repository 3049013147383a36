#include "dist/learn/sharded_learner.h"

#include <algorithm>
#include <exception>

#include "table/mix.h"

namespace leveret::dist {
namespace {

static_assert(BatchHead::kFloats <= SumLayout::kHead);

/// parts[0] += … += parts[n - 1], as one balanced binary tree; its upper part is over ranks.
void add_tree(std::span<const std::span<float>> parts) {
  if (parts.size() == 1) return;
  const std::size_t half = (parts.size() + 1) / 2;
  add_tree(parts.first(half));
  add_tree(parts.subspan(half));
  const std::span<float> to = parts[0], from = parts[half];
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

ShardedLearner::ShardedLearner(ShardedModel& model, Communicator& communicator)
    : model_(model), communicator_(communicator), partial_(model.size()) {}

BatchFlags ShardedLearner::learn(std::span<PartBatch> parts, BatchFlags flags,
                                 std::size_t examples) {
  const BatchFlags all = forward(parts, flags, examples, model::Use::kLearn);
  if (all.failed) return all;
  Frame& frame = model_.frame();
  frame.backward();
  for (std::size_t p = 0; p < partial_.size(); ++p) model_[p].learn(frame);
  frame.learn();
  model_.forget();
  return all;
}

BatchFlags ShardedLearner::forward(std::span<PartBatch> parts, BatchFlags flags,
                                   std::size_t examples, model::Use use) {
  Frame& frame = model_.frame();
  const SumLayout& at = frame.sums();
  for (std::vector<float>& partial : partial_) partial.assign(at.floats(examples), 0.0f);
  scores_.clear();
  std::exception_ptr error;
  BatchFlags all;
  for (std::uint32_t round = 0; round < at.declared.rounds() && !all.failed; ++round) {
    try {
      for (std::size_t p = 0; p < partial_.size() && !flags.failed; ++p) {
        if (round == 0) open(parts, p, use);
        model_[p].partial(at, round, partial_[p]);
      }
    } catch (...) {
      error = std::current_exception();
      flags.failed = true;
    }
    all = add_up(round, flags, examples);
  }
  ++batches_;
  if (error) std::rethrow_exception(error);
  if (all.failed) return all;
  frame.forward(partial_[0]);
  for (std::size_t b = 0; b < examples; ++b) scores_.push_back(frame.tape().answers[b]);
  return all;
}

void ShardedLearner::open(std::span<PartBatch> parts, std::size_t p, model::Use use) {
  Frame& frame = model_.frame();
  if (p == 0) frame.open(parts[0]);
  model_[p].open(parts[p], frame, use);
}

/// The sums of a round, over all shards; each has them then, as the next round needs them.
BatchFlags ShardedLearner::add_up(std::uint32_t round, BatchFlags flags, std::size_t examples) {
  const Frame& frame = model_.frame();
  const SumLayout& at = frame.sums();
  std::vector<std::span<float>> sums;
  for (std::vector<float>& partial : partial_) {
    sums.push_back(at.of_round(std::span<float>(partial), round, examples));
  }
  add_tree(sums);
  const bool checks = round == 0 && check_every > 0 && batches_ % check_every == 0;
  head_.write(flags, frame.model().parameters(), checks, sums[0]);
  all_reduce(at, round, sums[0]);
  for (std::size_t p = 1; p < sums.size() && round + 1 < at.declared.rounds(); ++p) {
    std::ranges::copy(sums[0], sums[p].begin());
  }
  return head_.read(sums[0], communicator_.size(), batches_);
}

/// Noise is by the examples learned so far, so that a run that is resumed goes on with that of one
/// run.
void ShardedLearner::all_reduce(const SumLayout& at, std::uint32_t round, std::span<float> sums) {
  WireFormat format = wire(wire_bits, at, round);
  const model::Model& model = model_.frame().model();
  format.noise = table::mix(std::uint64_t{model.spec().seed + round} << 32) ^
                 model.parameters().scalars.examples;
  communicator_.all_reduce_sum(sums, format);
}

}  // namespace leveret::dist
