/// Weights of one fully connected layer.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace leveret::model {

/// `outputs` rows of `inputs` weights, a bias per row, optimizer state beside every one of them.
/// Owned by the model; written by Optimizer alone.
struct Dense {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::vector<float> weights;         ///< outputs * inputs
  std::vector<float> bias;            ///< outputs
  std::vector<float> weights_state;   ///< as weights: AdaGrad's sum, or Adam's second moment
  std::vector<float> bias_state;      ///< as bias
  std::vector<float> weights_moment;  ///< Adam's first moment; empty without Adam
  std::vector<float> bias_moment;
};

struct DenseInit {
  std::uint64_t seed = 0;
  std::uint32_t layer = 0;
  float gain = 2.0f;  ///< variance of the weights times inputs (He et al. 2015: 2 for ReLU; 0: zeros)
  float init_acc = 1.0f;
  bool moments = false;
};

Dense make_dense(std::uint32_t inputs, std::uint32_t outputs, const DenseInit& init);

/// The same layer with other inputs: column i of the new one is column source(i) of the old one, or
/// new, with first weights, where source(i) is kNewColumn.
inline constexpr std::uint32_t kNewColumn = 0xffffffffu;
Dense with_inputs(const Dense& old, std::uint32_t inputs,
                  const std::function<std::uint32_t(std::uint32_t)>& source, const DenseInit& init);

}  // namespace leveret::model
