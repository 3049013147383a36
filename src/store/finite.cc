#include "store/finite.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace leveret::store {
namespace {

// As many values as a 32-bit count can be trusted with; narrow counts fill the registers.
constexpr std::size_t kBlock = std::size_t{1} << 16;

/// All bits of the exponent are set in what is not finite. Integers, so that no compiler option can
/// assume the check away.
std::uint32_t count_block(const float* values, std::size_t n) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, values + i, sizeof bits);
    count += (bits & kExponent) == kExponent ? 1 : 0;
  }
  return count;
}

}  // namespace

std::size_t count_non_finite(std::span<const float> values) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); i += kBlock) {
    count += count_block(values.data() + i, std::min(kBlock, values.size() - i));
  }
  return count;
}

}  // namespace leveret::store
