/// A part of the network: it reads weights and the tape, and writes the tape.
#pragma once

#include "model/model.h"
#include "model/tape.h"

namespace leveret::model {

/// Blocks run in a fixed order, forward first to last, backward last to first, over the batch of
/// 1…B examples that the tape holds. A block is const and holds no state of an example: any number
/// of threads may run it, each with its tape. Only Optimizer writes weights.
class Block {
 public:
  virtual ~Block() = default;
  /// Examples [begin, end) of the tape. What an example gets does not depend on the others.
  virtual void forward(const Model& model, Tape& tape, std::size_t begin,
                       std::size_t end) const = 0;
  /// d loss / d output is on the tape; leaves d loss / d input, and what Optimizer needs.
  virtual void backward(const Model& model, Tape& tape) const = 0;
};

}  // namespace leveret::model
