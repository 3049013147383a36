/// Whole numbers by the range coder: their length in bits, then the bits below the leading one, of
/// which the highest are modelled and the rest, which is noise, goes as it is.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "patch/range_coder.h"

namespace leveret::patch {

/// Codes `value` (below 2^depth) by a tree of models; `tree` has 2^depth of them.
template <class Coder>
std::uint32_t code_tree(Coder& coder, BitModel* tree, unsigned depth, std::uint32_t value) {
  std::uint32_t node = 1;
  for (unsigned i = depth; i-- > 0;) {
    node = node << 1 | (coder.bit(tree[node], (value >> i & 1) != 0) ? 1u : 0u);
  }
  return node - (1u << depth);
}

template <class Coder>
std::uint64_t code_raw(Coder& coder, unsigned count, std::uint64_t value) {
  std::uint64_t result = 0;
  while (count > 0) {
    const unsigned part = std::min(count, 16u);
    count -= part;
    result = result << part |
             coder.raw(part, static_cast<std::uint32_t>(value >> count) & ((1u << part) - 1));
  }
  return result;
}

/// Models of the bits below the leading one, for each length.
class TailModels {
 public:
  /// `length`: that of the value in bits, at least 1. With `all` every bit is modelled.
  template <class Coder>
  std::uint64_t code(Coder& coder, unsigned length, bool all, std::uint64_t value) {
    unsigned left = length - 1;
    const unsigned modelled = std::min(left, kModelled);
    std::uint64_t result = 1;
    if (modelled > 0) {
      left -= modelled;
      const auto top = static_cast<std::uint32_t>(value >> left) & ((1u << modelled) - 1);
      result = result << modelled | code_tree(coder, top_[length].data(), modelled, top);
    }
    if (!all)
      return result << left | code_raw(coder, left, value & ((std::uint64_t{1} << left) - 1));
    while (left > 0) {
      --left;
      result = result << 1 | (coder.bit(low_[length][left], (value >> left & 1) != 0) ? 1u : 0u);
    }
    return result;
  }

 private:
  static constexpr unsigned kModelled = 3;
  std::array<std::array<BitModel, 1 << kModelled>, 64> top_;
  std::array<std::array<BitModel, 32>, 33> low_;  // `all` is for numbers of 32 bits
};

/// Numbers below 2^63 that come from one distribution.
class NumberModels {
 public:
  template <class Coder>
  std::uint64_t code(Coder& coder, std::uint64_t value) {
    const auto length =
        code_tree(coder, length_.data(), 6, static_cast<std::uint32_t>(std::bit_width(value)));
    return length == 0 ? 0 : tail_.code(coder, length, false, value);
  }

 private:
  std::array<BitModel, 64> length_;
  TailModels tail_;
};

}  // namespace leveret::patch
