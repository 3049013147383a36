/// The linear stage.
///
/// One head: base = bias, linear = base + sum w x (FW paper, section 2.1, "lr").
///
/// Mixed heads: three heads that learn apart, and the start of the joint one:
///   linear  = base + bias + sum w x
///   counts  = base + sum_g a_g u_g         naive Bayes: u_g is the mean over the group's features
///                                          of the smoothed log-odds of (clicks, count) against
///                                          the base rate
///   fast    = base + bias3 + sum w3 x      by long steps (fast_head.h); not with --fast_head off
///   linear2 = counts + bias2 + sum w2 x    what FFM and towers add to; w2 learns by its loss what
///                                          the counts leave over (counts itself does not)
/// with base the log-odds of the running base rate and x = value / largest |value| of that feature.
/// `first` is the mixture of linear, counts and fast.
#pragma once

#include <string>
#include <utility>

#include "block/block.h"
#include "block/config.h"
#include "block/mixer.h"
#include "kernels/kernels.h"

namespace leveret::block {

/// Sums over features that the heads are made of; the sums of each group are tensors (group_linear,
/// …). Those of a request's context and of a candidate add up.
struct LinearSums {
  float linear = 0, linear2 = 0, fast = 0;
  float squares = 0;         ///< of the features' values
  float rate = 0, odds = 0;  ///< mixed heads: the base rate, and its log-odds

  /// No feature, with the base rate that these have.
  LinearSums of_nothing() const { return {.rate = rate, .odds = odds}; }
  void add(const LinearSums& others) {
    linear += others.linear;
    linear2 += others.linear2;
    fast += others.fast;
    squares += others.squares;
  }
};

class LinearBlock final : public Block {
 public:
  /// How many examples of the base rate a feature's counts are smoothed with.
  static constexpr float kPriorCount = 4.0f;

  explicit LinearBlock(const kernels::Kernels& kernels, Config config)
      : kernels_(kernels), config_(std::move(config)) {}

  static bool is_in(const Config&) { return true; }
  /// The first stage's mixture has this HeadDecl::first_weight.
  static constexpr float kFirstStageWeight = 0.2f;
  /// What the weights of the groups' counts are called, of which each group has one.
  static constexpr const char* kGroupWeights = "groups.weight";

  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  void open(const tape::Parameters& parameters, std::size_t size, tape::Tape& tape) const override;
  void forward(const Run& run) const override;
  void declare_sums(const tape::Extent& layout, std::uint32_t shared,
                    const tape::Declarations& declared, tape::SumDecls& sums) override;
  Split split() const override { return Split::kSums; }
  void partial(const Run& run) const override;
  void finish(const Run& run) const override;
  void finish_back(const Run& run) const override { backward(run); }
  void partial_back(const Run& run) const override { backward(run); }
  /// The sum of w x. Where there is one score (Config::has_one_score), whatever else adds to it is
  /// in here, too.
  static constexpr const char* kScoreSum = "linear";
  /// Writes linear_errors and hands on the gradients of cells, constants and groups' weights. With
  /// one head and a tower over merged inputs those of cells are by group, in d_group_linear.
  void backward(const Run& run) const override;
  bool updates_per_example() const override { return true; }
  bool needs_fields() const override { return false; }

  // G numbers, one a group: sums of w x (for merged inputs, mixed heads or Tape::keep_parts); mixed
  // heads: the mean of the log-odds of counts against the base rate, and of log(1 + count).
  static constexpr const char *kGroupLinear = "groups.linear", *kGroupCounts = "groups.counts",
                              *kGroupSeen = "groups.seen";
  /// Mixed heads: the head that is the mixture of linear, counts and fast.
  static constexpr const char* kFirst = "first";

 private:
  /// The sums before the first feature. Writes the tensor `base`.
  LinearSums start(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b) const;
  /// `before` and what the features of example b add; groups' sums likewise, on the tape.
  LinearSums add(tape::Tape& tape, std::size_t b, LinearSums before) const;
  /// The scores. `counts`: `base` and the weighted groups' counts; mixed heads only.
  void finish(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
              const LinearSums& sums, float counts) const;
  /// Whether the tape has sums of groups.
  bool has_groups(const tape::Tape& tape) const {
    return config_.uses_feature_groups() || tape.keep_parts;
  }
  void partial(const Run& run, std::size_t b, const tape::SumsOf& sums) const;
  void finish(const Run& run, std::size_t b, const tape::SumsOf& sums) const;
  LinearSums add_one(tape::Tape& tape, std::size_t b, LinearSums before) const;
  LinearSums add_mixed(tape::Tape& tape, std::size_t b, LinearSums before) const;
  void groups_backward(const Run& run) const;
  void declare_heads(tape::Declarations& declarations);
  void put_joint(const tape::Parameters& parameters, tape::Tape& tape, std::size_t b,
                 float score) const;
  void add_own_errors(const Run& run) const;
  void take_logs(tape::Tape& tape, std::size_t b, float rate) const;

  const kernels::Kernels& kernels_;
  Config config_;
  tape::ArrayId groups_ = tape::ArrayId::kNone;  ///< kGroupWeights, with mixed heads
  tape::TensorId group_linear_ = tape::TensorId::kNone, group_counts_ = tape::TensorId::kNone;
  tape::TensorId group_seen_ = tape::TensorId::kNone;
  /// 1: the score before there are features, which is in all heads: with mixed heads the log-odds
  /// of the base rate plus the example's initial, with one head the constant and the initial.
  tape::TensorId base_ = tape::TensorId::kNone;
  tape::TensorId curvature_ = tape::TensorId::kNone;  ///< mixed heads: see fast_head.h
  // Heads. With one head linear is the start of the joint score, with mixed ones linear2 is.
  tape::TensorId linear_ = tape::TensorId::kNone, linear2_ = tape::TensorId::kNone;
  tape::TensorId counts_ = tape::TensorId::kNone, fast_ = tape::TensorId::kNone;
  tape::TensorId first_ = tape::TensorId::kNone;
  tape::MixerDecl mixer_;  ///< of first_
  struct {
    tape::SumId linear;  ///< kScoreSum
    // Mixed heads: the same of the other weights, and of the values' squares; sum a_g u_g of groups
    // that a partition has alone, and u_g of the shared ones.
    tape::SumId linear2, fast, squares, counts, shared_counts;
  } sums_{};
};

}  // namespace leveret::block
