/// Test-then-train by batches over a model that lies in shards: what one process with --batch_size
/// learns, but for the order in which sums are made. And the test alone.
///
/// A batch goes: every shard looks up its features and makes partial sums; they are added up, in
/// this process and then over the ranks (Communicator::all_reduce_sum), round by round; from there
/// on scores, losses and errors are made everywhere alike, and each shard goes its own way back and
/// takes its steps. No weight, gradient or activation travels.
///
/// Bits depend on the number of shards, and not on that of ranks, where both are powers of two.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dist/learn/batch_head.h"
#include "dist/learn/part_batch.h"
#include "dist/learn/sharded_model.h"
#include "dist/plan/sum_layout.h"
#include "dist/talk/communicator.h"
#include "dist/talk/wire.h"

namespace leveret::dist {

/// Owned by one thread; the model must outlive it and be its alone while it learns.
class ShardedLearner {
 public:
  ShardedLearner(ShardedModel& model, Communicator& communicator);

  /// Learns from a batch of so many examples, of which `parts` are those of this rank's shards, in
  /// their order, after ShardedModel::grow for what is new in it. Says what any rank has flagged:
  /// with `failed` nothing was learned, and `scores` is empty. A batch of a rank that has failed
  /// may be empty. Every `check_every` batches ranks compare what they all have: std::runtime_error
  /// when it is not the same.
  BatchFlags learn(std::span<PartBatch> parts, BatchFlags flags, std::size_t examples);
  /// The same without learning: scores alone, of what the model knows, which stays as it is.
  BatchFlags predict(std::span<PartBatch> parts, BatchFlags flags, std::size_t examples) {
    return forward(parts, flags, examples, model::Use::kPredict);
  }
  /// Raw scores of the last batch's examples, before it was learned.
  std::span<const float> scores() const { return scores_; }
  /// How the sums of a batch travel: with 16 bits each, but for what comes once a batch, which is
  /// little and part of every example's result.
  static WireFormat wire(unsigned bits, const SumLayout& at, std::uint32_t round) {
    return {.bits = bits, .exact = at.floats(round, 0)};
  }

  std::uint64_t check_every = 64;  ///< batches; 0: never
  unsigned wire_bits = 32;         ///< of a sum on the network: 32 or 16; of all ranks alike

 private:
  BatchFlags forward(std::span<PartBatch> parts, BatchFlags flags, std::size_t examples,
                     model::Use use);
  void open(std::span<PartBatch> parts, std::size_t p, model::Use use);
  BatchFlags add_up(std::uint32_t round, BatchFlags flags, std::size_t examples);
  void all_reduce(const SumLayout& at, std::uint32_t round, std::span<float> sums);

  ShardedModel& model_;
  Communicator& communicator_;
  std::uint64_t batches_ = 0;
  BatchHead head_;
  std::vector<float> scores_;
  std::vector<std::vector<float>> partial_;  ///< by shard of this rank; the first becomes the sum
};

}  // namespace leveret::dist
