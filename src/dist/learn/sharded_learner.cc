#include "dist/learn/sharded_learner.h"

#include <exception>

#include "table/mix.h"

namespace leveret::dist {
namespace {

static_assert(BatchHead::kFloats <= SumLayout::kHead);

/// parts[begin] += … += parts[end - 1], as one balanced binary tree; its upper part is over ranks.
void add_tree(std::span<std::vector<float>> parts) {
  if (parts.size() == 1) return;
  const std::size_t half = (parts.size() + 1) / 2;
  add_tree(parts.first(half));
  add_tree(parts.subspan(half));
  std::vector<float>& to = parts[0];
  const std::vector<float>& from = parts[half];
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
  return all;
}

BatchFlags ShardedLearner::forward(std::span<PartBatch> parts, BatchFlags flags,
                                   std::size_t examples, model::Use use) {
  Frame& frame = model_.frame();
  const SumLayout& at = frame.sums();
  for (std::vector<float>& partial : partial_) partial.assign(at.floats(examples), 0.0f);
  std::exception_ptr error;
  try {
    for (std::size_t p = 0; p < partial_.size() && !flags.failed; ++p) {
      model_[p].forward(parts[p], frame.model().parameters().scalars, at, partial_[p], use);
    }
  } catch (...) {
    error = std::current_exception();
    flags.failed = true;
  }
  add_tree(partial_);
  std::vector<float>& sums = partial_[0];
  const bool checks = check_every > 0 && batches_ % check_every == 0;
  head_.write(flags, frame.model().parameters(), checks, sums);
  all_reduce(at, sums);
  ++batches_;
  scores_.clear();
  const BatchFlags all = head_.read(sums, communicator_.size(), batches_ - 1);
  if (error) std::rethrow_exception(error);
  if (all.failed) return all;
  frame.open(parts[0].features);
  frame.forward(parts[0], sums);
  for (std::size_t b = 0; b < examples; ++b) scores_.push_back(frame.tape().answers[b]);
  return all;
}

/// Noise is by the examples learned so far, so that a run that is resumed goes on with that of one
/// run.
void ShardedLearner::all_reduce(const SumLayout& at, std::span<float> sums) {
  WireFormat format = wire(wire_bits, at);
  const model::Model& model = model_.frame().model();
  format.noise =
      table::mix(std::uint64_t{model.spec().seed} << 32) ^ model.parameters().scalars.examples;
  communicator_.all_reduce_sum(sums, format);
}

}  // namespace leveret::dist
