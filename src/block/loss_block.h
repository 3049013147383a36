/// The end of the network: the heads' scores become the model's answer, and logistic loss with
/// importance weights becomes every head's error.
#pragma once

#include <utility>

#include "block/block.h"
#include "block/config.h"

namespace leveret::block {

class LossBlock final : public Block {
 public:
  LossBlock(const kernels::Kernels&, Config config) : config_(std::move(config)) {}

  static bool is_in(const Config&) { return true; }
  void declare(const tape::InputLayout& layout, tape::Declarations& declarations) override;
  void open(const tape::Parameters& parameters, std::size_t size, tape::Tape& tape) const override;

  /// Mixed heads: mixes the heads into scores.last.
  void forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
               std::size_t end) const override;
  /// Writes the scores' errors and `learn`: false for an example without label or importance, and
  /// for one whose score is not finite or that weighs more than text::kMaxImportance (its gradient
  /// would not be finite either).
  void backward(const tape::Parameters& parameters, tape::Tape& tape) const override;
  bool takes_turns() const override { return true; }
  void backward_turn(const tape::Parameters& parameters, tape::Tape& tape,
                     std::size_t b) const override;
  bool needs_fields() const override { return false; }

 private:
  Config config_;
};

}  // namespace leveret::block
