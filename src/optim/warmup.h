/// The rate of layers, and of arrays that towers learn beside them, rises from 0 over the first
/// examples (--nn_warmup; Goyal et al. 2017, Accurate, Large Minibatch SGD, section 2.2).
#pragma once

#include <algorithm>

#include "block/config.h"
#include "tape/scalars.h"

namespace leveret::optim {

/// The share of the rate behind so many examples; all examples of a batch have that of its first.
inline float warmth(const tape::Scalars& scalars, const block::Config& config) {
  if (config.layers_warmup == 0) return 1;
  const double examples = static_cast<double>(scalars.examples) + 1;
  return static_cast<float>(std::min(1.0, examples / config.layers_warmup));
}

}  // namespace leveret::optim
