/// How far apart halves are.
#pragma once

#include <algorithm>
#include <cmath>

namespace leveret {

/// The distance of the halves around x.
inline double half_ulp(double x) {
  return std::ldexp(1, std::max(std::ilogb(std::max(std::abs(x), 0x1p-14)), -14) - 10);
}

}  // namespace leveret
