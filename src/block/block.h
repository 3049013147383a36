/// A part of the network: it reads parameters and the tape, and writes the tape.
#pragma once

#include <cstddef>

#include "block/parameters.h"
#include "block/tape.h"

namespace leveret::block {

/// Blocks run in a fixed order, forward first to last, backward last to first, over the batch of
/// 1…B examples that the tape holds. A block is const and holds no state of an example: any number
/// of threads may run it, each with its tape. Only optimizers write weights.
class Block {
 public:
  virtual ~Block() = default;
  /// Examples [begin, end) of the tape. What an example gets does not depend on the others.
  virtual void forward(const Parameters& parameters, Tape& tape, std::size_t begin,
                       std::size_t end) const = 0;
  /// d loss / d output is on the tape; leaves d loss / d input, and what the optimizer needs.
  virtual void backward(const Parameters& parameters, Tape& tape) const = 0;
  /// Whether it has nothing to do before the first field is met.
  virtual bool needs_fields() const { return true; }
};

}  // namespace leveret::block
