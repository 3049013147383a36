#include "optim/bounded.h"

#include <algorithm>
#include <cmath>

namespace leveret::optim {

const float* BoundedGradients::numbers(const float* gradient, std::size_t count) {
  if (is_bounded(kernels_->largest(gradient, count))) return gradient;
  numbers_.assign(gradient, gradient + count);
  for (float& g : numbers_) g = bounded(g);
  return numbers_.data();
}

SlotFactors BoundedGradients::slots(SlotFactors factors, std::size_t slots, std::size_t k) {
  const auto [contra, delta] = factors;
  // Kernels may take the squares of each by itself.
  const float c = kernels_->largest(contra, slots * k), d = kernels_->largest(delta, slots);
  if (is_bounded(c) && is_bounded(d) && is_bounded(c * d)) return factors;
  ones_.assign(slots, 1.0f);
  numbers_.resize(slots * k);
  for (std::size_t i = 0; i < slots * k; ++i) numbers_[i] = bounded(delta[i / k] * contra[i]);
  return {numbers_.data(), ones_.data()};
}

tape::VectorGradients BoundedGradients::vectors(const tape::VectorGradients& vectors,
                                                std::size_t k) {
  const std::size_t n = vectors.rows.size();
  const auto are_good = [](float g, float factor) {
    return is_bounded(g) && is_bounded(factor) && is_bounded(g * factor);
  };
  const float g = kernels_->largest(vectors.floats.data(), vectors.floats.size());
  if (are_good(g, kernels_->largest(vectors.factors, n))) return vectors;
  rows_.clear();
  gradients_.clear();
  numbers_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    const float of_one = kernels_->largest(vectors.gradients[i], k);
    if (!are_good(of_one, std::fabs(vectors.factors[i]))) continue;
    rows_.push_back(vectors.rows[i]);
    gradients_.push_back(vectors.gradients[i]);
    numbers_.push_back(vectors.factors[i]);
  }
  return {rows_, gradients_.data(), numbers_.data(), {}};
}

bool BoundedGradients::is_bounded_layer(const tape::LayerGradient& gradient, std::size_t inputs,
                                        std::size_t outputs, std::size_t row) const {
  const float d = kernels_->largest(gradient.d_out + row * outputs, outputs);
  if (d == 0.0f) return true;  // it has no part, whatever came in
  return is_bounded(d) &&
         is_bounded(d * kernels_->largest(gradient.rows.in + row * gradient.rows.width, inputs));
}

tape::LayerGradient BoundedGradients::layer(const tape::LayerGradient& gradient, std::size_t inputs,
                                            std::size_t outputs) {
  tape::LayerGradient kept = gradient;
  for (std::size_t b = 0; b < gradient.rows.count; ++b) {
    if (is_bounded_layer(gradient, inputs, outputs, b)) continue;
    if (kept.d_out == gradient.d_out) {
      numbers_.assign(gradient.d_out, gradient.d_out + gradient.rows.count * outputs);
      kept.d_out = numbers_.data();
    }
    std::fill_n(numbers_.data() + b * outputs, outputs, 0.0f);
  }
  return kept;
}

}  // namespace leveret::optim
