/// What a block adds to the joint score, or to a head of its own over the linear stage's.
#pragma once

#include <cstddef>

#include "block/logistic.h"
#include "tape/head.h"
#include "tape/tape.h"

namespace leveret::block {

/// A member of blocks that add to a score: its head is the head before it and what the block
/// adds (skip connection), so that the block can only add. Const once it is declared.
class ResidualScore {
 public:
  ResidualScore() = default;
  /// `clamps`: the score stays within ±kMaxScore, as scores that a mixer reads do.
  ResidualScore(tape::ResidualPlace at, bool clamps) : at_(at), clamps_(clamps) {}

  /// The raw score of example b that it adds to.
  float before(const tape::Tape& tape, std::size_t b) const { return tape[at_.before].values[b]; }
  /// Writes the score of example b: `before` and what the block adds.
  void put(tape::Tape& tape, std::size_t b, float score) const {
    tape[at_.score].values[b] = clamps_ ? clamp_score(score) : score;
  }
  /// d loss / d score of each example of the tape.
  const float* errors(const tape::Tape& tape) const { return tape[at_.score].gradient; }

 private:
  tape::ResidualPlace at_;
  bool clamps_ = false;
};

}  // namespace leveret::block
