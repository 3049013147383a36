/// Test-then-train over a stream: every example is predicted with what was learned before it, then
/// learned from.
#pragma once

#include "feature/feature_batch.h"
#include "kernels/kernels.h"
#include "model/lookup.h"
#include "net/network.h"
#include "optim/optimizer.h"
#include "predict/outcome.h"
#include "text/namespace_names.h"
#include "train/serial_learner.h"
#include "train/sighting_counter.h"

namespace leveret::train {

using predict::Outcome;
using predict::Outcomes;

/// One thread's. With the spec's batch_size B > 1, batches are cut by count (batches.h), across
/// chunks, so that the outcome does not depend on how the input was cut; the last one is short.
class Learner final : public SerialLearner {
 public:
  /// `names` are those of the parser whose chunks will come; both must outlive the learner.
  /// `thread`: its number among those that share the model.
  Learner(model::Model& model, const text::NamespaceNames& names, const kernels::Kernels& kernels,
          unsigned thread = 0);

  /// Takes examples [first, first + count) of the chunk. Appends an outcome per example that is
  /// learned; up to B-1 examples wait for the next call. Needs the model to itself.
  void learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
             Outcomes& outcomes) override;
  void finish(Outcomes& outcomes) override;
  bool none_waits() const override { return batch_.size() == 0; }
  std::size_t until_none_waits() const override;

  // The steps of `learn`, for threads that share a model (see Hogwild).

  /// Maps as many of the examples as there is room for, and returns how many. `stuck` afterwards:
  /// the next example has a namespace that the model has to meet first.
  std::size_t take(const text::ExampleChunk& chunk, std::size_t first, std::size_t count);
  bool stuck() const { return stuck_; }
  /// Whether what was taken is to be learned now.
  bool ready() const;
  void learn_taken(Outcomes& outcomes);
  /// The same of what waits, ready or not.
  void learn_rest(Outcomes& outcomes);
  /// Whether the tables have room for `times` what was taken, were all of it new; and makes it.
  bool has_room(std::uint64_t times) { return lookup_.has_room(model_, batch_, times); }
  void make_room(std::uint64_t times) { lookup_.make_room(model_, batch_, times); }
  /// Learns into these instead of what they are copies of; they outlive it.
  void use(model::HotRows& hot) { lookup_.use(hot); }

 private:
  /// Examples taken together when each is a batch of its own.
  static constexpr std::size_t kWindow = 32;
  /// Beyond so many on all tapes of a group, its examples are learned one by one.
  static constexpr std::size_t kManyFeatures = 1 << 22;

  void forget();
  void learn_window(Outcomes& outcomes);
  void learn_nn_batch(Outcomes& outcomes);
  void learn_batch(Outcomes& outcomes);
  void learn_tape(Outcomes& outcomes);
  void report(const tape::Tape& tape, Outcomes& outcomes);
  std::size_t most_together() const;
  std::size_t next_nn_batch() const;
  std::size_t window() const;

  model::Model& model_;
  const text::NamespaceNames& names_;
  model::Lookup lookup_;
  net::Network network_;
  optim::Optimizer optimizer_;
  tape::Tape tape_;
  std::vector<tape::Tape> nn_batch_;  ///< of the examples that pass the MLP together
  feature::FeatureBatch batch_;
  std::size_t nn_batch_size_ = 0;  ///< how many of them learn together; set with the first
  Outcomes waiting_;               ///< of the examples in batch_
  SightingCounter sightings_;      ///< of these, too
  bool stuck_ = false;
};

}  // namespace leveret::train
