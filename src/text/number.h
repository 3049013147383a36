/// Decimal numbers in VW text: correctly rounded floats, the same in every locale.
#pragma once

#include <string_view>

namespace leveret::text {

enum class NumberStatus {
  kOk,
  kMalformed,   ///< not `[+-] digits [. digits] [e [+-] digits]` from its first to its last byte
  kOutOfRange,  ///< a number, but no float is that large
  kNotANumber,  ///< a spelling of NaN or infinity
};

/// Reads all of `text`. `value` is set only when the result is kOk; a number too small for a float
/// is 0. Either side of the point may lack its digits, but not both; no blanks, no hexadecimal.
NumberStatus parse_number(std::string_view text, float& value);

/// Whether `text` is `nan`, `nan(...)`, `inf` or `infinity` in any case, with or without a sign.
bool spells_nan_or_infinity(std::string_view text);

/// Whether a feature value is to be read as a number: it begins with a digit, a sign or a point, or
/// spells NaN or infinity. Any other value is a string value.
bool looks_like_number(std::string_view text);

}  // namespace leveret::text
