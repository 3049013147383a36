/// Gradients that are longer than a norm are brought to it (--nn_clip; Pascanu et al. 2013, On the
/// Difficulty of Training Recurrent Neural Networks, section 3.2): here those of a neuron, which
/// are there when it moves, and not those of all layers together.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/kernels.h"

namespace leveret::optim {

/// By what a gradient is multiplied whose squares add up to so much. `most`: a norm above 0.
inline float clip_factor(float squares, float most) {
  const float norm = std::sqrt(squares);
  return norm > most ? most / norm : 1.0f;
}

}  // namespace leveret::optim
