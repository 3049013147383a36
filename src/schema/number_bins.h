/// Where numbers are cut, and the features that a number becomes (NumberForm).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "schema/column.h"

namespace leveret::schema {

/// Of some numbers of a column, all finite: the edges of so many bins with as many numbers each, as
/// far as equal numbers allow. For kLinear the least and the greatest number, and quantiles between
/// them; where there are no more different numbers than that would be, each of these. Empty where
/// there is no number.
std::vector<double> quantiles(std::vector<double> numbers, NumberForm form, std::uint32_t bins);

/// Whether a cell of numbers says that there is none: empty, or one of the usual words for that.
bool is_missing_number(std::string_view text);
/// The feature of a missing number.
inline constexpr std::string_view kMissingFeature = "NA";

/// Bytes that put_number writes at most.
inline constexpr std::size_t kNumberRoom = 64;
/// Writes the features of a number: names, with values where they have some, and blanks between.
/// Nothing: kValue has no feature for 0. The column is no open one.
char* put_number(char* out, const Column& column, double v);

}  // namespace leveret::schema
