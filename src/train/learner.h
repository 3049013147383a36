/// Test-then-train over a stream: every example is predicted with what was learned before it, then
/// learned from.
#pragma once

#include "feature/feature_batch.h"
#include "kernels/kernels.h"
#include "model/network.h"
#include "model/optimizer.h"
#include "text/namespace_names.h"
#include "train/outcome.h"

namespace leveret::train {

/// One thread's. With the spec's batch_size B > 1, batches are cut by count, across chunks, so that
/// the outcome does not depend on how the input was cut; the last one is short.
class Learner {
 public:
  /// `names` are those of the parser whose chunks will come; both must outlive the learner.
  Learner(model::Model& model, const text::NamespaceNames& names,
          const kernels::Kernels& kernels);

  /// Takes examples [first, first + count) of the chunk. Appends an outcome per example that is
  /// learned; up to B-1 examples wait for the next call.
  void learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
             Outcomes& outcomes);
  /// Learns from the examples that wait.
  void finish(Outcomes& outcomes);

 private:
  /// Examples mapped together when each is a batch of its own.
  static constexpr std::size_t kWindow = 32;

  void learn_window(Outcomes& outcomes);
  void learn_batch(Outcomes& outcomes);
  void learn_tape(Outcomes& outcomes);

  model::Model& model_;
  const text::NamespaceNames& names_;
  model::Network network_;
  model::Optimizer optimizer_;
  model::Tape tape_;
  feature::FeatureBatch batch_;
  Outcomes waiting_;  ///< of the examples in batch_
};

}  // namespace leveret::train
