/// The linear stage.
///
/// One head: base = bias, linear = base + sum w x (FW paper, section 2.1, "lr").
///
/// Mixed heads: two heads that learn apart, and the start of the joint one:
///   linear  = base + bias + sum w x
///   counts  = base + sum_g a_g u_g         naive Bayes: u_g is the mean over the group's features
///                                          of the smoothed log-odds of (clicks, count) against
///                                          the base rate
///   linear2 = counts + bias2 + sum w2 x    what FFM and MLP add to; w2 learns from their loss what
///                                          the counts leave over (counts itself does not)
/// with base the log-odds of the running base rate and x = value / largest |value| of that feature.
/// `first` is the mixture of linear and counts.
#pragma once

#include <utility>

#include "block/block.h"
#include "block/config.h"
#include "kernels/kernels.h"

namespace leveret::block {

class LinearBlock final : public Block {
 public:
  /// How many examples of the base rate a feature's counts are smoothed with.
  static constexpr float kPriorCount = 4.0f;

  explicit LinearBlock(const kernels::Kernels& kernels, Config config)
      : kernels_(kernels), config_(std::move(config)) {}

  void forward(const Parameters& parameters, Tape& tape, std::size_t begin,
               std::size_t end) const override;
  /// The heads' errors are all that the optimizer needs.
  void backward(const Parameters&, Tape&) const override {}
  bool needs_fields() const override { return false; }

 private:
  void forward_one(const Parameters& parameters, Tape& tape, std::size_t b) const;
  void forward_mixed(const Parameters& parameters, Tape& tape, std::size_t b) const;
  void take_logs(Tape& tape, std::size_t b, float rate) const;

  const kernels::Kernels& kernels_;
  Config config_;
};

}  // namespace leveret::block
