/// MergeNorm (FW paper, section 2.1): the outputs of the linear and the FFM part joined and
/// normalised to mean 0 and variance 1, x^ = (x - mean) / sqrt(mean (x - mean)² + eps); with
/// mixed heads the counts and the linear stage's score stand behind them as they are.
#pragma once

#include <utility>

#include "block/block.h"
#include "block/config.h"

namespace leveret::block {

class NormBlock final : public Block {
 public:
  static constexpr float kEpsilon = 0.01f;
  static constexpr float kSeenScale = 0.3f;  ///< of mean log(1 + count)

  explicit NormBlock(const kernels::Kernels& kernels, Config config)
      : kernels_(&kernels), config_(std::move(config)) {}

  static bool is_in(const Config& config) { return config.has_mlp(); }
  /// The tensor of what it makes: see InputLayout.
  static constexpr const char* kOutputs = "norm.outputs";
  void declare(const tape::InputLayout& layout, tape::Declarations& declarations) override;
  void open(const tape::Parameters& parameters, std::size_t size, tape::Tape& tape) const override;
  /// From the FFM's pairs and group_* to its outputs.
  void forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
               std::size_t end) const override;
  /// From the gradient of its outputs, in place, and with one head to d_group_linear.
  void backward(const tape::Parameters& parameters, tape::Tape& tape) const override;

 private:
  const kernels::Kernels* kernels_;
  Config config_;
  tape::TensorId first_ = tape::TensorId::kNone;  ///< the linear stage's score, with mixed heads
  tape::TensorId pairs_ = tape::TensorId::kNone, outputs_ = tape::TensorId::kNone;
  tape::TensorId scale_ = tape::TensorId::kNone;  ///< 1: 1 / deviation
};

}  // namespace leveret::block
