/// MergeNorm (FW paper, section 2.1): the outputs of the linear and the FFM part joined and
/// normalised to mean 0 and variance 1 (merge_norm.h); with mixed heads the counts and the linear
/// stage's score stand behind them as they are. The inputs and their order are declared here and
/// nowhere else (tape/join.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "block/block.h"
#include "block/config.h"

namespace leveret::block {

class NormBlock final : public Block {
 public:
  explicit NormBlock(const kernels::Kernels& kernels, Config config)
      : kernels_(&kernels), config_(std::move(config)) {}

  static bool is_in(const Config& config) { return config.merges(); }
  /// The tensor of what it makes, a join.
  static constexpr const char* kOutputs = kMergedInputs;
  void declare(const tape::Extent& layout, tape::Declarations& declarations) override;
  void forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
               std::size_t end) const override;
  /// MergedLayer stands in its place where examples are in partitions.
  std::string why_not_in_partitions() const override { return {}; }
  std::string why_not_in_contexts() const override { return {}; }
  /// From the gradient of its outputs, in place, to those of what it reads.
  void backward(const tape::Parameters& parameters, tape::Tape& tape) const override;

 private:
  /// A part of the join.
  struct Input {
    tape::TensorInput from;
    tape::TensorId sum;  ///< the sum of its numbers, where somebody has made it
  };
  void add_gradients(const tape::Join& join, tape::Tape& tape) const;

  const kernels::Kernels* kernels_;
  Config config_;
  std::vector<Input> inputs_;
  tape::TensorId outputs_ = tape::TensorId::kNone;
  tape::TensorId scale_ = tape::TensorId::kNone;  ///< 1: 1 / deviation
};

}  // namespace leveret::block
