/// The arithmetic of MergeNorm (FW paper, section 2.1), which whole examples, contexts with their
/// candidates and ranks have in common: x^ = (x - mean) / sqrt(variance + eps), and on the way back
///   d x = (d x^ - mean(d x^) - x^ mean(d x^ x^)) / sqrt(variance + eps).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/kernels.h"

namespace leveret::block {

inline constexpr float kNormEpsilon = 0.01f;

/// x^ = (x - mean) * scale.
template <class Float>
struct Norm {
  Float mean = 0, scale = 1;

  /// From the variance of numbers.
  static Norm of_variance(Float mean, Float variance) {
    return {mean, 1 / std::sqrt(variance + static_cast<Float>(kNormEpsilon))};
  }
  /// From the sum of `count` numbers, and that of their squares. Where these were made in
  /// partitions, which are added.
  static Norm of_sums(Float sum, Float squares, Float count) {
    const Float mean = sum / count;
    return of_variance(mean, std::max(squares / count - mean * mean, Float{0}));
  }
};

/// Means over all numbers of an example, for the way back: that of d x^, and that of d x^ times x^.
struct NormBack {
  float mean = 0, along = 0;
};

/// What an example keeps of it, as 4 numbers of a tensor.
struct ExampleNorm {
  Norm<float> norm;
  NormBack back;

  static ExampleNorm of(const float* n) { return {{n[0], n[1]}, {n[2], n[3]}}; }
  void put(float* n) const {
    n[0] = norm.mean;
    n[1] = norm.scale;
    n[2] = back.mean;
    n[3] = back.along;
  }
};

/// The inputs as they are become x^, in place.
inline void normalise(const kernels::Kernels& kernels, const Norm<float>& norm, std::size_t count,
                      float* x) {
  kernels.centre(x, count, norm.mean, x);
  kernels.scale(x, count, norm.scale, x);
}

/// From x^ and, in place, d x^ to d x.
inline void normalise_back(const kernels::Kernels& kernels, const Norm<float>& norm,
                           const NormBack& back, const float* x, std::size_t count, float* d) {
  kernels.normalise_back(x, count, back.mean, back.along, norm.scale, d);
}

}  // namespace leveret::block
