/// FTRL-proximal (McMahan et al. 2013, algorithm 1) of two weights that share a sum of squares, in
/// the place of two weights by AdaGrad: mixed heads have it in cells of the same size, and nobody
/// but the optimizer knows of it.
#pragma once

#include <cmath>

#include "rules/learning.h"
#include "table/slot.h"

namespace leveret::optim {

/// The number z that the algorithm keeps of a weight w follows from w and the sum n:
/// w = -(z - sgn(z) l1) / ((beta + sqrt(n)) / alpha + l2). Where L1 holds w at 0, that is |z| <=
/// l1, the weight is z times kAsleep in place of 0, which is nothing beside any score.
class FtrlWeights {
 public:
  static constexpr float kAsleep = 0x1p-110f;
  /// Weights below this are asleep.
  static constexpr float kLeastAwake = table::kLeastWeight;

  explicit FtrlWeights(const rules::Learning& learning)
      : alpha_(learning.linear.rate),
        beta_(learning.ftrl_beta),
        l1_(learning.l1),
        l2_(learning.l2) {}

  /// The step of both by their gradients; the sum takes the square of the second one's, as
  /// AdaGrad's does. A gradient whose square is not finite must have been made 0. What has no
  /// gradient keeps its bits.
  void step(float& weight, float& weight2, float& sum, float g, float g2) const {
    if (g == 0.0f && g2 == 0.0f) return;
    const float before = std::sqrt(sum), divisor = this->divisor(before);
    const float z = z_of(weight, divisor), z2 = z_of(weight2, divisor);
    sum += g2 * g2;
    const float after = std::sqrt(sum), sigma = (after - before) / alpha_;
    const float now = this->divisor(after);
    weight = weight_of(z + g - sigma * awake(weight), now);
    if (g2 != 0.0f) weight2 = weight_of(z2 + g2 - sigma * awake(weight2), now);
  }

 private:
  static bool is_asleep(float weight) { return std::fabs(weight) < kLeastAwake; }
  static float awake(float weight) { return is_asleep(weight) ? 0.0f : weight; }
  float divisor(float root) const { return (beta_ + root) / alpha_ + l2_; }
  float z_of(float weight, float divisor) const {
    if (is_asleep(weight)) return weight / kAsleep;
    return -(weight * divisor + std::copysign(l1_, weight));
  }
  float weight_of(float z, float divisor) const {
    const float excess = std::fabs(z) - l1_;
    // With a beta of 0 there is no step before a gradient's square counts.
    const bool moves = excess > 0.0f && divisor > 0.0f;
    const float weight = moves ? -std::copysign(excess, z) / divisor : 0.0f;
    return is_asleep(weight) ? z * kAsleep : weight;
  }

  float alpha_, beta_, l1_, l2_;
};

}  // namespace leveret::optim
