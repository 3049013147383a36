/// Rows of numbers to the codes of an export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/rows/log_code.h"
#include "store/section.h"

namespace leveret::modelfile {

struct Rounding {
  bool stochastic = false;  ///< up or down, so that the mean is kept; else to the nearest
  std::uint64_t seed = 0;
  /// A code of an older export stays where the number is less than so many codes away from it.
  float tolerance = 0;
};

/// The smallest power of two of which `largest` is at most `largest_code` times as much.
/// std::runtime_error where that is out of all bounds.
float unit_for(float largest, int largest_code);

/// The largest code x of a type, whose codes reach from -x to x: 127 for i8.
int largest_code(store::Dtype dtype);

/// The rows of one section. Its choices depend on the rounding, the section's name, the row's name
/// and the number's place in the row alone.
class RowCoder {
 public:
  RowCoder(const Rounding& rounding, std::string_view section);

  /// Codes of weights, which are `codes_in_one` codes each, to `codes`. `old`: those of the row in
  /// an older export, in the same unit; what is beyond them is new. `row` names the row.
  void code(std::span<const float> weights, float codes_in_one, int largest_code,
            std::span<const std::int32_t> old, std::uint64_t row, std::int16_t* codes) const;
  /// The same of counts, which are always rounded to the nearest.
  void code(std::span<const float> counts, const kernels::LogCode& by,
            std::span<const std::int32_t> old, std::uint16_t* codes) const;
  /// The same of numbers that stay floats: an old one stays where it is near. `unit`: 1 code.
  void keep(std::span<float> numbers, float unit, std::span<const float> old) const;
  void keep(std::span<float> counts, const kernels::LogCode& by, std::span<const float> old) const;

 private:
  Rounding rounding_;
  std::uint64_t noise_;
};

/// Codes as a section of this type (i16, i8, i4) has them: as many as are even for i4.
void store_codes(store::Dtype dtype, std::span<const std::int16_t> codes, std::byte* to);
/// The reverse, of u16, too.
void load_codes(store::Dtype dtype, const std::byte* from, std::span<std::int32_t> codes);

}  // namespace leveret::modelfile
