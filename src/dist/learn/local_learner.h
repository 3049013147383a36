/// All shards of a model in one process: learns what as many ranks learn, bit for bit.
#pragma once

#include <vector>

#include "dist/learn/batch_maker.h"
#include "dist/learn/sharded_learner.h"
#include "dist/learn/sharded_model.h"
#include "train/in_order.h"

namespace leveret::dist {

/// Shards of a model that is to have the same bits on 1, 2, 4 and 8 ranks.
inline constexpr std::uint32_t kDeterministicShards = 8;

/// One thread.
class LocalLearner final : public train::InOrder {
 public:
  /// `model` has all shards of its plan. Both outlive it.
  LocalLearner(ShardedModel& model, const text::NamespaceNames& names);

  void learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
             predict::Outcomes& outcomes) override;
  void finish(predict::Outcomes& outcomes) override;
  /// Batches are made stretch by stretch (BatchMaker).
  std::size_t until_none_waits() override { return 0; }

 private:
  void learn_batch(predict::Outcomes& outcomes);

  ShardedModel& model_;
  SingleCommunicator alone_;
  ShardedLearner learner_;
  BatchMaker maker_;
  std::vector<PartBatch> parts_;
};

}  // namespace leveret::dist
