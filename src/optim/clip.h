/// A gradient that is longer than a norm is brought to it (--nn_clip; Pascanu et al. 2013, On the
/// Difficulty of Training Recurrent Neural Networks, section 3.2): that of a neuron's weights and
/// bias, or of a whole array that towers learn beside layers, summed over a batch. These are there
/// when they move; all layers' gradients together never are.
#pragma once

#include <cmath>
#include <span>

namespace leveret::optim {

/// In double: squares of numbers within kernels::kMaxGradient, and of sums of them, do not fit
/// floats.
inline double squares_of(std::span<const float> gradient) {
  double squares = 0;
  for (const float g : gradient) squares += double{g} * g;
  return squares;
}

/// By what a gradient is multiplied whose squares add up to so much. `most`: a norm above 0.
inline float clip_factor(double squares, float most) {
  const double norm = std::sqrt(squares);
  return norm > most ? static_cast<float>(most / norm) : 1.0f;
}

}  // namespace leveret::optim
