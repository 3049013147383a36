/// ReLU of numbers in place, and its way back.
#pragma once

#include <algorithm>
#include <cstddef>

namespace leveret::block {

inline void relu(float* x, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) x[i] = std::max(x[i], 0.0f);
}

/// `y`: what ReLU made. d becomes 0 where a neuron did not fire.
inline void relu_back(const float* y, std::size_t count, float* d) {
  for (std::size_t i = 0; i < count; ++i) d[i] = y[i] > 0.0f ? d[i] : 0.0f;
}

}  // namespace leveret::block
