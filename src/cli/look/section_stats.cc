#include "cli/look/section_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/rows/codec.h"
#include "table/slot.h"

namespace leveret::cli {
namespace {

/// The meaning of a number of a section.
struct Meaning {
  store::Coding coding;
  double scale;
  bool weight;

  double of(double number) const {
    if (weight && std::fabs(number) < table::kLeastWeight) return 0;
    switch (coding) {
      case store::Coding::kFixed:
        return number * scale;
      case store::Coding::kLog:
        return std::expm1(number * scale);
      default:
        return number;
    }
  }
};

template <class T, class ToDouble>
void add_all(SectionStats& stats, std::span<const std::byte> part, ToDouble to_double) {
  for (std::size_t at = 0; at + sizeof(T) <= part.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, part.data() + at, sizeof(T));
    stats.add(to_double(value));
  }
}

template <class T>
void add_all(SectionStats& stats, std::span<const std::byte> part, const Meaning& meaning) {
  add_all<T>(stats, part, [&](T value) { return meaning.of(static_cast<double>(value)); });
}

/// Codes that share bytes.
void add_codes(SectionStats& stats, int bits, std::span<const std::byte> part,
               const Meaning& meaning) {
  const auto codec = kernels::Codec::fixed(bits, 0);
  const std::size_t count = part.size() * 8 / static_cast<std::size_t>(bits);
  for (std::size_t i = 0; i < count; ++i) {
    stats.add(meaning.of(kernels::code_at(codec, part.data(), i)));
  }
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

void add_numbers(SectionStats& stats, store::Dtype dtype, std::span<const std::byte> part,
                 const store::Declaration& declared) {
  const Meaning meaning{declared.coding, declared.scale, declared.role == store::Role::kParameter};
  switch (dtype) {
    case store::Dtype::kU8:
      return add_all<std::uint8_t>(stats, part, meaning);
    case store::Dtype::kU16:
      return add_all<std::uint16_t>(stats, part, meaning);
    case store::Dtype::kU32:
      return add_all<std::uint32_t>(stats, part, meaning);
    case store::Dtype::kU64:
      return add_all<std::uint64_t>(stats, part, meaning);
    case store::Dtype::kI8:
      return add_all<std::int8_t>(stats, part, meaning);
    case store::Dtype::kI16:
      return add_all<std::int16_t>(stats, part, meaning);
    case store::Dtype::kI4:
      return add_codes(stats, 4, part, meaning);
    case store::Dtype::kI12:
      return add_codes(stats, 12, part, meaning);
    case store::Dtype::kF32:
      return add_all<float>(stats, part, meaning);
    case store::Dtype::kF64:
      return add_all<double>(stats, part, meaning);
    case store::Dtype::kBf16:
      return add_all<std::uint16_t>(stats, part, [](std::uint16_t half) {
        return static_cast<double>(std::bit_cast<float>(std::uint32_t{half} << 16));
      });
  }
}

}  // namespace leveret::cli
