/// The step of the fast head: a linear head by plain gradient descent, each time with the inverse
/// of the curvature of what it learns from. Its steps never shrink, so that it follows a stream
/// that changes; the mixers see to it that it counts where it is right.
///
/// The curvature of one example's logistic loss along the weights is at most (1 + sum x²) / 4, with
/// 1 for the bias. Several examples have a sum of such bounds for each weight: over those in which
/// it has part.
#pragma once

namespace leveret::block {

/// The largest error. Within an example's importance of 1, so that one of large importance takes a
/// step as long as the worst surprise, and none beyond.
inline constexpr float kMostFastError = 1.0f;

/// One example's part in the bound of the curvature of each of its weights, times 4.
inline float fast_curvature(float squares) { return 1.0f + squares; }

/// The step for a gradient of 1.
inline float fast_rate(float curvature) { return 4.0f / curvature; }

}  // namespace leveret::block
