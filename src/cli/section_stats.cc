#include "cli/section_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace leveret::cli {
namespace {

template <class T, class ToDouble>
void add_all(SectionStats& stats, std::span<const std::byte> part, ToDouble to_double) {
  for (std::size_t at = 0; at + sizeof(T) <= part.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, part.data() + at, sizeof(T));
    stats.add(to_double(value));
  }
}

template <class T>
void add_all(SectionStats& stats, std::span<const std::byte> part) {
  add_all<T>(stats, part, [](T value) { return static_cast<double>(value); });
}

}  // namespace

void SectionStats::add(double value) {
  ++count;
  if (!std::isfinite(value)) {
    ++not_finite;
    return;
  }
  zeros += value == 0;
  const bool first = count - not_finite == 1;
  min = first ? value : std::min(min, value);
  max = first ? value : std::max(max, value);
  sum += value;
}

void add_numbers(SectionStats& stats, store::Dtype dtype, std::span<const std::byte> part) {
  switch (dtype) {
    case store::Dtype::kU8:
      return add_all<std::uint8_t>(stats, part);
    case store::Dtype::kU16:
      return add_all<std::uint16_t>(stats, part);
    case store::Dtype::kU32:
      return add_all<std::uint32_t>(stats, part);
    case store::Dtype::kU64:
      return add_all<std::uint64_t>(stats, part);
    case store::Dtype::kI8:
      return add_all<std::int8_t>(stats, part);
    case store::Dtype::kI16:
      return add_all<std::int16_t>(stats, part);
    case store::Dtype::kI4:
      for (const std::byte two : part) {
        const auto codes = static_cast<std::uint8_t>(two);
        // Sign bits of four bits, moved to those of eight and back.
        stats.add(static_cast<std::int8_t>(codes << 4) >> 4);
        stats.add(static_cast<std::int8_t>(codes) >> 4);
      }
      return;
    case store::Dtype::kF32:
      return add_all<float>(stats, part);
    case store::Dtype::kF64:
      return add_all<double>(stats, part);
    case store::Dtype::kBf16:
      return add_all<std::uint16_t>(stats, part, [](std::uint16_t half) {
        return static_cast<double>(std::bit_cast<float>(std::uint32_t{half} << 16));
      });
  }
}

}  // namespace leveret::cli
