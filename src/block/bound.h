/// Numbers within bounds.
#pragma once

#include <algorithm>
#include <cstddef>

namespace leveret::block {

/// Brings each of them into ±most; what is no number stays so.
inline void bound(float most, float* numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) numbers[i] = std::clamp(numbers[i], -most, most);
}

}  // namespace leveret::block
