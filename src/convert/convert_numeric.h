/// How the numbers of numeric columns become features. The paper ("log transform of continuous
/// features") says no more than that; the three forms, for a number v:
///   log2bucket  a token: b0 for 0; bN with N = 1 + floor(log2 |v|) for |v| >= 1, so that 1, 2-3,
///               4-7, … share a token each; fN with N = -floor(log2 |v|) for 0 < |v| < 1. Negative
///               numbers: b-N, f-N.
///   value       the feature `v` with the value sign(v) ln(1 + |v|); nothing for 0, which weighs 0.
///   both        the two of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "convert/convert_vw.h"

namespace leveret::convert {

enum class NumericForm { kLog2Bucket, kValue, kBoth };

/// Room that put_integer and put_real need beyond the prefix.
inline constexpr std::size_t kNumericRoom = 40;

/// Writes prefix and feature(s) of a number, or nothing where the form has none for it.
char* put_integer(char* out, const Prefix& prefix, std::int64_t v, NumericForm form);
char* put_real(char* out, const Prefix& prefix, double v, NumericForm form);
/// The same without the prefix.
char* put_real_feature(char* out, double v, NumericForm form);

/// All of `text` as a finite decimal number, the same in every locale; no blanks, no hexadecimal.
std::optional<double> read_real(std::string_view text);

/// A click label: 1 or 0 (also -1, +1, 1.0, 0.0, and true/false, yes/no, y/n, t/f in any case).
/// nullopt: none of these.
std::optional<bool> read_label(std::string_view text);

}  // namespace leveret::convert
