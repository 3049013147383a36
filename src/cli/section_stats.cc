#include "cli/section_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace leveret::cli {
namespace {

template <class T, class ToDouble>
SectionStats stats_of(const store::SectionView& section, ToDouble to_double) {
  SectionStats stats;
  for (std::uint64_t at = 0; at + sizeof(T) <= section.bytes; at += sizeof(T)) {
    T value;
    std::memcpy(&value, section.data + at, sizeof(T));
    stats.add(to_double(value));
  }
  return stats;
}

template <class T>
SectionStats stats_of(const store::SectionView& section) {
  return stats_of<T>(section, [](T value) { return static_cast<double>(value); });
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

SectionStats section_stats(const store::SectionView& section) {
  switch (section.dtype) {
    case store::Dtype::kU8:
      return stats_of<std::uint8_t>(section);
    case store::Dtype::kU16:
      return stats_of<std::uint16_t>(section);
    case store::Dtype::kU32:
      return stats_of<std::uint32_t>(section);
    case store::Dtype::kU64:
      return stats_of<std::uint64_t>(section);
    case store::Dtype::kI8:
      return stats_of<std::int8_t>(section);
    case store::Dtype::kI16:
      return stats_of<std::int16_t>(section);
    case store::Dtype::kF32:
      return stats_of<float>(section);
    case store::Dtype::kBf16:
      return stats_of<std::uint16_t>(section, [](std::uint16_t half) {
        return static_cast<double>(std::bit_cast<float>(std::uint32_t{half} << 16));
      });
  }
  return {};
}

}  // namespace leveret::cli
