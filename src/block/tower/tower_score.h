/// The score of a tower, and its place among the heads.
#pragma once

#include <cstddef>

#include "block/config.h"
#include "block/linear_block.h"
#include "block/residual_score.h"
#include "tape/learned_array.h"
#include "tape/tape.h"

namespace leveret::block {

/// The first weight of a tower's head in the mixer of the answer.
inline constexpr float kTowerWeight = 0.5f, kOwnTowerWeight = 0.3f;

/// The place of its score: in the joint score, or, where it has a loss of its own, over the linear
/// stage's.
inline tape::ResidualPlace declare_head(const Tower& tower, tape::Declarations& declarations) {
  if (!tower.own_loss) return declarations.add_residual(tower.head, kTowerWeight, false);
  const tape::HeadDecl* const first = declarations.find_head(LinearBlock::kFirst);
  const tape::TensorId before = first->score;
  declarations.over_first.push_back(declarations.add(tape::HeadDecl{
      .name = tower.head, .error = tape::HeadError::kOwn, .first_weight = kOwnTowerWeight}));
  return {before, declarations.over_first.back()};
}

/// A member of towers: what a tower adds is a tensor.
class TowerScore {
 public:
  void declare(const Config& config, const Tower& tower, tape::Declarations& declarations) {
    own_ = declarations.add(tape::Tensor{.name = tower.name + ".score", .size = 1});
    head_ = {declare_head(tower, declarations), config.mixed};
  }
  void put(tape::Tape& tape, std::size_t b, float score) const {
    tape[own_].values[b] = score;
    put(tape, b);
  }
  /// Again, where the score before it has changed.
  void put(tape::Tape& tape, std::size_t b) const {
    head_.put(tape, b, head_.before(tape, b) + tape[own_].values[b]);
  }
  /// d loss / d score.
  float error(const tape::Tape& tape, std::size_t b) const { return head_.errors(tape)[b]; }

 private:
  tape::TensorId own_ = tape::TensorId::kNone;  ///< 1
  ResidualScore head_;
};

}  // namespace leveret::block
