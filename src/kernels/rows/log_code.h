/// Counts in 16 bits, by their logarithm: code c stands for expm1(c * unit).
///
/// The number that a code stands for does not depend on the other counts, nor on the base rate: a
/// feature that is not seen keeps its code. 0 is exact. Immutable; any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leveret::kernels {

class LogCode {
 public:
  /// The unit of all exports: counts up to 7.8e13, each within 1 + count times 2.5e-4. A power of
  /// two, so that c * unit is exact.
  static constexpr float kUnit = 0x1p-11f;

  /// `unit` is finite and above 0.
  explicit LogCode(float unit = kUnit);

  float unit() const { return unit_; }
  /// log(1 + count) in units, not rounded. A count below 0, which threads that lose updates may
  /// leave, counts as 0.
  double units(float count) const;
  /// The nearest code; the last one for what is beyond. `count` is finite.
  std::uint16_t encode(float count) const;
  /// A finite number, whatever the code and the unit.
  float decode(std::uint16_t code) const { return values_[code]; }

 private:
  float unit_;
  std::vector<float> values_;              ///< of all codes
  std::vector<std::uint16_t> of_integer_;  ///< the codes of 0, 1, 2, …, which counts mostly are
};

}  // namespace leveret::kernels
