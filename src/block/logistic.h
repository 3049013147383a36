/// Logistic loss and its relatives, on raw scores (log-odds).
#pragma once

#include <algorithm>
#include <cmath>

namespace leveret::block {

/// Raw scores are kept within ±kMaxScore: a probability beyond 3e-7 is noise, and a loss of 15 nats
/// is punishment enough.
inline constexpr float kMaxScore = 15.0f;

inline float clamp_score(float z) { return std::clamp(z, -kMaxScore, kMaxScore); }

inline float sigmoid(float z) { return 1.0f / (1.0f + std::exp(-z)); }

inline float logit(float p) { return std::log(p / (1.0f - p)); }

/// -log p(label | z) for label +1 or -1: log(1 + exp(-label z)). Models depend on it, and log1p of
/// a float is another number in each C library; that of a double rounded to a float is not.
inline float logistic_loss(float z, float label) {
  const float m = -label * z;
  const float rest = static_cast<float>(std::log(1.0 + double{std::exp(-std::fabs(m))}));
  return m > 0 ? m + rest : rest;
}

/// d loss / d z, times importance.
inline float logistic_gradient(float z, float label, float importance) {
  return (sigmoid(z) - (label > 0 ? 1.0f : 0.0f)) * importance;
}

}  // namespace leveret::block
