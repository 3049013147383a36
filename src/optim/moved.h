/// A vector of an array as its rule sees it.
#pragma once

#include <cstddef>
#include <span>

#include "rules/rule.h"
#include "tape/dense.h"

namespace leveret::optim {

/// Vectors of `size` weights, `stride` floats from one to the next, and the gradient of one.
struct Vectors {
  float* weights;
  const float* gradient;
  std::size_t size, stride;
};

/// Vector v of those, with what the rule keeps of it.
inline rules::Moved moved(const rules::Rule& rule, const Vectors& vectors, std::size_t v,
                          const tape::States& states, float decay = 1, float warmth = 1) {
  rules::Moved of{
      vectors.weights + v * vectors.stride, vectors.gradient, vectors.size, {}, decay, warmth};
  const std::span<const rules::State> kept = rule.states();
  for (std::size_t s = 0; s < kept.size(); ++s) {
    const bool by_weight = kept[s].per == rules::State::Per::kWeight;
    of.states[s] = states[s].data() + v * (by_weight ? vectors.stride : 1);
  }
  return of;
}

}  // namespace leveret::optim
