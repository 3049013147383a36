/// The end of the network: the heads' scores become the model's answer, and logistic loss with
/// importance weights becomes every head's error.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "block/block.h"
#include "block/config.h"

namespace leveret::block {

class LossBlock final : public Block {
 public:
  LossBlock(const kernels::Kernels&, Config config) : config_(std::move(config)) {}

  static bool is_in(const Config&) { return true; }
  /// Goes by the heads that blocks before it have declared. The mixer of the answer has those with
  /// a first weight: first what has no error, then those of the joint loss, then the others.
  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;

  /// Writes the answers: with mixed heads what the mixer says, else the whole joint score.
  void finish(const Run& run) const override;
  /// Writes the heads' errors and `learn`: false for an example without label or importance, and
  /// for one whose answer is not finite or that weighs more than text::kMaxImportance (its gradient
  /// would not be finite either).
  void finish_back(const Run& run) const override;
  Split split() const override { return Split::kBehindSums; }
  bool updates_per_example() const override { return true; }
  bool needs_fields() const override { return false; }

 private:
  void put_errors(tape::Tape& tape, std::size_t b) const;

  /// A head that learns by its own loss.
  struct Own {
    tape::TensorId score;
    float most_error;
  };

  Config config_;
  std::vector<Own> own_;
  std::vector<tape::TensorId> joint_;  ///< the last is the whole joint score
  tape::MixerDecl mixer_;              ///< with mixed heads
};

}  // namespace leveret::block
