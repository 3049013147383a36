/// Floats that are no numbers to count with.
#pragma once

#include <limits>

namespace leveret::kernels {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

}  // namespace leveret::kernels
