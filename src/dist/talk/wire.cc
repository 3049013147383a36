#include "dist/talk/wire.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/rows/bf16.h"
#include "table/mix.h"

namespace leveret::dist {
namespace {

using kernels::Bf16;

/// How many of numbers [begin, begin + count) are sent as they are.
std::size_t exact_of(const WireFormat& format, std::size_t begin, std::size_t count) {
  return format.exact > begin ? std::min(format.exact - begin, count) : 0;
}

/// The upper half of a hash of 32 bits (Wellons 2018, lowbias32 without its last step, whose bits
/// would be lost).
std::uint32_t noise_of(std::uint32_t key, std::uint32_t place) {
  std::uint32_t x = key + place * 0x9e3779b9u;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  return (x ^ (x >> 15)) * 0x846ca68bu;
}

float rounded(float x, std::uint32_t noise) {
  constexpr std::uint32_t kInfinity = 0x7f800000u, kSign = 0x80000000u, kKept = 0xffff0000u;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t to = (bits + (noise >> kernels::kBf16BitsLost)) & kKept;
  const bool finite = (bits & ~kSign) < kInfinity, stays = (to & ~kSign) < kInfinity;
  // A NaN may have all its bits in the lower half: one more makes it one in the upper half.
  const std::uint32_t special = (bits & ~kSign) > kInfinity ? bits | 0x00400000u : bits;
  return std::bit_cast<float>(!finite ? special & kKept : stays ? to : bits & kKept);
}

}  // namespace

std::uint64_t WireFormat::bytes(std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t count = end - begin;
  return rounds() ? 2 * (count + exact_of(*this, begin, count)) : sizeof(float) * count;
}

void round(const WireFormat& format, std::uint64_t node, std::size_t begin,
           std::span<float> values) {
  const auto key = static_cast<std::uint32_t>(table::mix(format.noise ^ table::mix(node)));
  for (std::size_t i = exact_of(format, begin, values.size()); i < values.size(); ++i) {
    values[i] = rounded(values[i], noise_of(key, static_cast<std::uint32_t>(begin + i)));
  }
}

void pack(const WireFormat& format, std::size_t begin, std::span<const float> values,
          std::vector<std::byte>& to) {
  const std::size_t exact = exact_of(format, begin, values.size());
  to.resize(format.bytes(begin, begin + values.size()));
  if (exact > 0) std::memcpy(to.data(), values.data(), exact * sizeof(float));
  std::byte* at = to.data() + exact * sizeof(float);
  for (const float value : values.subspan(exact)) {
    const Bf16 half = kernels::round_to_bf16(value, 0);
    std::memcpy(at, &half, sizeof half);
    at += sizeof half;
  }
}

void unpack(const WireFormat& format, std::size_t begin, std::span<const std::byte> from,
            std::span<float> values) {
  const std::size_t exact = exact_of(format, begin, values.size());
  if (exact > 0) std::memcpy(values.data(), from.data(), exact * sizeof(float));
  const std::byte* at = from.data() + exact * sizeof(float);
  for (float& value : values.subspan(exact)) {
    Bf16 half;
    std::memcpy(&half, at, sizeof half);
    at += sizeof half;
    value = kernels::to_float(half);
  }
}

}  // namespace leveret::dist
