/// The linear stage.
///
/// Heads::kOne: base = bias, linear = base + sum w x (FW paper, section 2.1, "lr").
///
/// Heads::kMixed: two heads that learn apart, and the start of the joint one:
///   linear  = base + bias + sum w x
///   counts  = base + sum_g a_g u_g         naive Bayes: u_g is the mean over the group's features
///                                          of the smoothed log-odds of (clicks, count) against
///                                          the base rate
///   linear2 = counts + bias2 + sum w2 x    what FFM and MLP add to; w2 learns from their loss what
///                                          the counts leave over (counts itself does not)
/// with base the log-odds of the running base rate and x = value / largest |value| of that feature.
/// `first` is the mixture of linear and counts.
#pragma once

#include "kernels/kernels.h"
#include "model/block.h"

namespace leveret::model {

class LinearBlock final : public Block {
 public:
  /// How many examples of the base rate a feature's counts are smoothed with.
  static constexpr float kPriorCount = 4.0f;

  explicit LinearBlock(const kernels::Kernels& kernels) : kernels_(kernels) {}

  void forward(const Model& model, Tape& tape, std::size_t begin, std::size_t end) const override;
  /// The heads' errors are all Optimizer needs.
  void backward(const Model&, Tape&) const override {}

 private:
  void forward_one(const Model& model, Tape& tape, std::size_t b) const;
  void forward_mixed(const Model& model, Tape& tape, std::size_t b) const;
  void take_logs(Tape& tape, std::size_t b, float rate) const;

  const kernels::Kernels& kernels_;
};

}  // namespace leveret::model
