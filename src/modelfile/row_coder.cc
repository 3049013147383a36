#include "modelfile/row_coder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "kernels/dispatch.h"
#include "kernels/rows/codec.h"
#include "modelfile/section_names.h"
#include "store/checksum.h"
#include "table/mix.h"

namespace leveret::modelfile {
namespace {

using store::Dtype;

/// Bounds of units, as exponents: so that codes, and sums of their products, are finite and normal
/// floats.
constexpr int kLeast = -100, kMost = 30;

/// A whole number is left as it is, whatever the noise.
float round_stochastically(float x, std::uint64_t noise) {
  const float floor = std::floor(x);
  const float chance = static_cast<float>(noise >> 40) * 0x1p-24f;  // in [0, 1)
  return chance < x - floor ? floor + 1 : floor;
}

}  // namespace

float unit_for(float largest, int largest_code) {
  if (largest == 0) return std::ldexp(1.0f, kLeast);
  int exponent = 0;
  const float mantissa = std::frexp(largest / static_cast<float>(largest_code), &exponent);
  if (mantissa == 0.5f) --exponent;  // a power of two itself
  exponent = std::max(exponent, kLeast);
  // The quotient may have been rounded down.
  if (std::ldexp(static_cast<float>(largest_code), exponent) < largest) ++exponent;
  if (exponent > kMost) {
    throw std::runtime_error("has weights too large for codes; --bits 32 keeps them as they are");
  }
  return std::ldexp(1.0f, exponent);
}

int largest_code(Dtype dtype) { return (1 << (store::dtype_bits(dtype) - 1)) - 1; }

RowCoder::RowCoder(const Rounding& rounding, std::string_view section)
    : rounding_(rounding),
      noise_(
          table::mix(rounding.seed ^ store::checksum_of(std::as_bytes(std::span(section))).low)) {}

void RowCoder::code(std::span<const float> weights, float codes_in_one, int largest_code,
                    std::span<const std::int32_t> old, std::uint64_t row,
                    std::int16_t* codes) const {
  const bool keeps = rounding_.tolerance > 0 && !old.empty();
  if (!keeps && !rounding_.stochastic) {
    return kernels::active().quantize(weights.data(), weights.size(), codes_in_one, largest_code,
                                      codes);
  }
  const auto end = static_cast<float>(largest_code);
  const std::uint64_t noise = table::mix(noise_ ^ row);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float x = weights[i] * codes_in_one;
    if (keeps && i < old.size() &&
        std::fabs(x - static_cast<float>(old[i])) < rounding_.tolerance) {
      codes[i] = static_cast<std::int16_t>(old[i]);
      continue;
    }
    const float within = std::clamp(x, -end, end);
    const float rounded = rounding_.stochastic ? round_stochastically(within, table::mix(noise + i))
                                               : std::nearbyint(within);
    codes[i] = static_cast<std::int16_t>(rounded);
  }
}

void RowCoder::code(std::span<const float> counts, const kernels::LogCode& by,
                    std::span<const std::int32_t> old, std::uint16_t* codes) const {
  const bool keeps = rounding_.tolerance > 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    codes[i] = keeps && i < old.size() &&
                       std::fabs(by.units(counts[i]) - old[i]) < double{rounding_.tolerance}
                   ? static_cast<std::uint16_t>(old[i])
                   : by.encode(counts[i]);
  }
}

void RowCoder::keep(std::span<float> numbers, float unit, std::span<const float> old) const {
  const float tolerance = rounding_.tolerance * unit;
  for (std::size_t i = 0; i < std::min(numbers.size(), old.size()); ++i) {
    if (std::fabs(numbers[i] - old[i]) < tolerance) numbers[i] = old[i];
  }
}

void RowCoder::keep(std::span<float> counts, const kernels::LogCode& by,
                    std::span<const float> old) const {
  for (std::size_t i = 0; i < std::min(counts.size(), old.size()); ++i) {
    const double moved = by.units(counts[i]) - by.units(old[i]);
    if (std::fabs(moved) < double{rounding_.tolerance}) counts[i] = old[i];
  }
}

void store_codes(Dtype dtype, std::span<const std::int16_t> codes, std::byte* to) {
  if (dtype == Dtype::kI16) {
    std::memcpy(to, codes.data(), codes.size_bytes());
  } else {
    const auto codec = fixed_codec(dtype);
    for (std::size_t i = 0; i < codes.size(); ++i) kernels::put_code(codec, to, i, codes[i]);
  }
}

void load_codes(Dtype dtype, const std::byte* from, std::span<std::int32_t> codes) {
  const auto codec = fixed_codec(dtype);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = dtype == Dtype::kU16 ? kernels::load_unaligned<std::uint16_t>(from + 2 * i)
                                    : kernels::code_at(codec, from, i);
  }
}

}  // namespace leveret::modelfile
