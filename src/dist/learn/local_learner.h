/// All shards of a model in one process: learns what as many ranks learn, bit for bit.
#pragma once

#include <vector>

#include "dist/learn/batch_maker.h"
#include "dist/learn/sharded_learner.h"
#include "dist/learn/sharded_model.h"
#include "train/serial_learner.h"

namespace leveret::dist {

/// Shards of a model that is to have the same bits on 1, 2, 4 and 8 ranks.
inline constexpr std::uint32_t kDeterministicShards = 8;

/// One thread.
class LocalLearner final : public train::SerialLearner {
 public:
  /// `model` has all shards of its plan. Both outlive it.
  LocalLearner(ShardedModel& model, const text::NamespaceNames& names);

  void learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
             predict::Outcomes& outcomes) override;
  void finish(predict::Outcomes& outcomes) override;
  bool none_waits() const override { return !waits_; }
  /// How stretches are cut is the maker's business: example by example, none is missed.
  std::size_t until_none_waits() const override { return 1; }

 private:
  void learn_batch(predict::Outcomes& outcomes);

  ShardedModel& model_;
  SingleCommunicator alone_;
  ShardedLearner learner_;
  BatchMaker maker_;
  std::vector<PartBatch> parts_;
  bool waits_ = false;  ///< examples of a stretch (BatchMaker) that is not full
};

}  // namespace leveret::dist
