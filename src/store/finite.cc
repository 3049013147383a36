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
template <class Word>
std::uint32_t count_block(const std::byte* values, std::size_t n, Word exponent) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Word bits;
    std::memcpy(&bits, values + i * sizeof bits, sizeof bits);
    count += (bits & exponent) == exponent ? 1 : 0;
  }
  return count;
}

template <class Word>
std::size_t count_all(std::span<const std::byte> array, Word exponent) {
  const std::size_t n = array.size() / sizeof(Word);
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; i += kBlock) {
    count += count_block(array.data() + i * sizeof(Word), std::min(kBlock, n - i), exponent);
  }
  return count;
}

}  // namespace

std::size_t count_non_finite(std::span<const float> values) {
  return count_non_finite(Dtype::kF32, std::as_bytes(values));
}

std::size_t count_non_finite(Dtype dtype, std::span<const std::byte> array) {
  switch (dtype) {
    case Dtype::kF32:
      return count_all<std::uint32_t>(array, 0x7f800000u);
    case Dtype::kBf16:
      return count_all<std::uint16_t>(array, 0x7f80u);
    case Dtype::kF64:
      return count_all<std::uint64_t>(array, 0x7ff0000000000000u);
    default:
      return 0;
  }
}

}  // namespace leveret::store
