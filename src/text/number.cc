/// VW's own reader is up to 4 ulp off and depends on what follows the number; this one is exact.
/// Numbers of up to 15 digits, nearly all there are, take one division in double precision.
#include "text/number.h"

#include <fast_float/fast_float.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace leveret::text {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A number cut in its parts: digits * 10^exponent.
struct Decimal {
  bool negative = false;
  std::int64_t digit_count = 0;  ///< leading zeros included
  std::uint64_t digits = 0;      ///< wrapped around unless digit_count is at most kExactDigits
  int exponent = 0;              ///< likewise
  const char* unsigned_begin = nullptr;
};

constexpr std::int64_t kExactDigits = 15;  // below 2^53
constexpr int kExponentClamp = 100000;

/// Takes the digits at `p`.
const char* take_digits(const char* p, const char* end, Decimal& out) {
  std::uint64_t digits = out.digits;
  const char* const begin = p;
  for (; p != end && is_digit(*p); ++p) digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
  out.digits = digits;
  out.digit_count += p - begin;
  return p;
}

/// False if the exponent is malformed.
bool take_exponent(const char*& p, const char* end, Decimal& out) {
  ++p;
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  if (p == end || !is_digit(*p)) return false;
  int value = 0;
  for (; p != end && is_digit(*p); ++p) {
    if (value < kExponentClamp) value = value * 10 + (*p - '0');
  }
  out.exponent += negative ? -value : value;
  return true;
}

bool take_decimal(std::string_view text, Decimal& out) {
  const char* p = text.data();
  const char* end = p + text.size();
  if (p != end && (*p == '-' || *p == '+')) out.negative = *p++ == '-';
  out.unsigned_begin = p;
  p = take_digits(p, end, out);
  if (p != end && *p == '.') {
    const std::int64_t before = out.digit_count;
    p = take_digits(p + 1, end, out);
    if (out.digit_count <= kExactDigits) out.exponent = static_cast<int>(before - out.digit_count);
  }
  if (out.digit_count == 0) return false;
  if (p != end && (*p == 'e' || *p == 'E') && !take_exponent(p, end, out)) return false;
  return p == end;
}

constexpr int kMaxExactPower = 22;  // 10^22 is the largest power of ten that a double holds exactly
constexpr double kPowers[kMaxExactPower + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Both operands are exact, so the double is correctly rounded (Clinger 1990), and so is the float
/// made from it, unless the double lies exactly between two floats and may have been put there by
/// its own rounding. Every value in reach is a normal float.
bool round_fast(const Decimal& decimal, float& value) {
  if (decimal.digit_count > kExactDigits || decimal.exponent < -kMaxExactPower ||
      decimal.exponent > kMaxExactPower) {
    return false;
  }
  double wide = static_cast<double>(decimal.digits);
  wide =
      decimal.exponent < 0 ? wide / kPowers[-decimal.exponent] : wide * kPowers[decimal.exponent];
  constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1;
  constexpr std::uint64_t kHalfway = std::uint64_t{1} << 28;
  if ((std::bit_cast<std::uint64_t>(wide) & kDropped) == kHalfway) return false;
  value = static_cast<float>(wide);
  return true;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

}  // namespace

NumberStatus parse_number(std::string_view text, float& value) {
  Decimal decimal;
  if (!take_decimal(text, decimal)) {
    return spells_nan_or_infinity(text) ? NumberStatus::kNotANumber : NumberStatus::kMalformed;
  }
  float magnitude = 0;
  if (!round_fast(decimal, magnitude)) {
    fast_float::from_chars(decimal.unsigned_begin, text.data() + text.size(), magnitude);
    if (std::isinf(magnitude)) return NumberStatus::kOutOfRange;
  }
  value = decimal.negative ? -magnitude : magnitude;
  return NumberStatus::kOk;
}

bool spells_nan_or_infinity(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const bool with_payload = text.size() > 4 && text[3] == '(' && text.back() == ')';
  return equals_ignoring_case(text, "nan") || equals_ignoring_case(text, "inf") ||
         equals_ignoring_case(text, "infinity") ||
         (with_payload && equals_ignoring_case(text.substr(0, 3), "nan"));
}

bool looks_like_number(std::string_view text) {
  if (text.empty()) return false;
  const char c = text[0];
  if (is_digit(c) || c == '-' || c == '+' || c == '.') return true;
  const bool may_be_nan_or_inf = c == 'n' || c == 'N' || c == 'i' || c == 'I';
  return may_be_nan_or_inf && spells_nan_or_infinity(text);
}

}  // namespace leveret::text
