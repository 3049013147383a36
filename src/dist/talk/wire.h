/// How floats that are added up over ranks are written for the network.
///
/// As they are, or in 16 bits, of bfloat16 (kernels/rows/bf16.h): sums of all sizes have the same
/// relative error, 2^-8 at most, so no scale has to be found or sent. Rounding is stochastic: the
/// mean over all noises is the number itself. Noise is by (key, node, place), so that whoever
/// rounds the same sum gets the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace leveret::dist {

struct WireFormat {
  unsigned bits = 32;     ///< of a number: 32 or 16
  std::size_t exact = 0;  ///< with 16: this many, the first ones, have 32
  std::uint64_t noise =
      0;  ///< with 16: key of rounding; of all ranks the same, of each sum another

  bool rounds() const { return bits != 32; }
  /// Bytes that numbers [begin, end) take.
  std::uint64_t bytes(std::uint64_t begin, std::uint64_t end) const;
};

// Below `values` are numbers begin, begin + 1, … of all that are sent, and `format` rounds.

/// Makes them numbers that 16 bits hold. What is infinite or NaN stays that, and what is finite
/// stays finite. `node`: which sum they are, of those that lead to the result.
void round(const WireFormat& format, std::uint64_t node, std::size_t begin,
           std::span<float> values);

/// Replaces `to`. Rounded values lose nothing.
void pack(const WireFormat& format, std::size_t begin, std::span<const float> values,
          std::vector<std::byte>& to);
/// `from` is what pack has made of as many.
void unpack(const WireFormat& format, std::size_t begin, std::span<const std::byte> from,
            std::span<float> values);

}  // namespace leveret::dist
