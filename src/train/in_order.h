/// What learns the examples of a stream one after the other, in one thread: a Learner, or all
/// shards of a model in one process (dist::LocalLearner).
#pragma once

#include <cstddef>
#include <limits>

#include "predict/outcome.h"
#include "text/example.h"

namespace leveret::train {

class InOrder {
 public:
  virtual ~InOrder() = default;

  /// Takes examples [first, first + count) of the chunk. Appends an outcome for each example that
  /// is learned, in the order of the stream; some may wait for the rest of their batch.
  virtual void learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                     predict::Outcomes& outcomes) = 0;
  /// Learns from the examples that wait.
  virtual void finish(predict::Outcomes& outcomes) = 0;

  /// No example ever waits.
  static constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();
  /// After so many more examples none waits; 0 where that cannot be told before they come.
  virtual std::size_t until_none_waits() = 0;
};

}  // namespace leveret::train
