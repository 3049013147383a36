/// The learner of the examples of a stream one after the other, in one thread: a Learner, or all
/// shards of a model in one process (dist::LocalLearner).
#pragma once

#include <cstddef>

#include "predict/outcome.h"
#include "text/example.h"

namespace leveret::train {

class SerialLearner {
 public:
  virtual ~SerialLearner() = default;

  /// Takes examples [first, first + count) of the chunk. Appends an outcome for each example that
  /// is learned, in the order of the stream; some may wait for the rest of their batch.
  virtual void learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                     predict::Outcomes& outcomes) = 0;
  /// Learns from the examples that wait.
  virtual void finish(predict::Outcomes& outcomes) = 0;

  /// Whether all that was taken is learned.
  virtual bool none_waits() const = 0;
  /// The examples after which none waits, were so many taken now: at least 1. kAnyCount: none ever
  /// waits when learn() returns.
  virtual std::size_t until_none_waits() const = 0;
  static constexpr std::size_t kAnyCount = ~std::size_t{0};
};

}  // namespace leveret::train
