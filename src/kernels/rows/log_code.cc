#include "kernels/rows/log_code.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leveret::kernels {
namespace {

constexpr std::size_t kCodes = 1 << 16;
constexpr std::size_t kIntegers = 1 << 12;

/// Functions of doubles, as those of floats are rounded otherwise by each C library.
double units_of(float count, float unit) {
  return std::log1p(std::max(0.0, static_cast<double>(count))) / unit;
}

std::uint16_t nearest(double units) {
  return static_cast<std::uint16_t>(std::min(std::nearbyint(units), double{kCodes - 1}));
}

}  // namespace

LogCode::LogCode(float unit) : unit_(unit), values_(kCodes), of_integer_(kIntegers) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  for (std::size_t code = 0; code < kCodes; ++code) {
    const double value = std::expm1(static_cast<double>(code) * unit);
    values_[code] = static_cast<float>(std::min(value, kLargest));
  }
  for (std::size_t i = 0; i < kIntegers; ++i) {
    of_integer_[i] = nearest(units_of(static_cast<float>(i), unit));
  }
}

double LogCode::units(float count) const { return units_of(count, unit_); }

std::uint16_t LogCode::encode(float count) const {
  if (count >= 0 && count < static_cast<float>(kIntegers)) {
    const auto whole = static_cast<std::uint32_t>(count);
    if (static_cast<float>(whole) == count) return of_integer_[whole];
  }
  return nearest(units(count));
}

}  // namespace leveret::kernels
