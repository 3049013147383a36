#include "convert/convert_numeric.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>

namespace leveret::convert {
namespace {

char* put_bucket(char* out, char kind, bool negative, int bucket) {
  *out++ = kind;
  if (negative && bucket != 0) *out++ = '-';
  if (bucket < 10) {
    *out++ = static_cast<char>('0' + bucket);
    return out;
  }
  return std::to_chars(out, out + 8, bucket).ptr;
}

char* put_log(char* out, double v) {
  double log = std::copysign(std::log1p(std::fabs(v)), v);
  out = put(out, "v:");
  return std::to_chars(out, out + 24, log, std::chars_format::general, 6).ptr;
}

/// The bucket of a number other than 0 is its binary exponent.
char* put_real_bucket(char* out, double v) {
  int exponent = 0;
  std::frexp(v, &exponent);
  --exponent;
  return exponent >= 0 ? put_bucket(out, 'b', v < 0, exponent + 1)
                       : put_bucket(out, 'f', v < 0, -exponent);
}

/// The number in text of 1 to 15 digits, as most numbers are; nullopt: anything else.
std::optional<double> read_digits(std::string_view text) {
  if (text.empty() || text.size() > 15) return std::nullopt;
  std::int64_t sum = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    sum = sum * 10 + (c - '0');
  }
  return static_cast<double>(sum);
}

}  // namespace

char* put_integer(char* out, const Prefix& prefix, std::int64_t v, NumericForm form) {
  if (form == NumericForm::kValue && v == 0) return out;
  out = prefix.write(out);
  if (form != NumericForm::kValue) {
    std::uint64_t magnitude = v < 0 ? 0 - static_cast<std::uint64_t>(v) : v;
    out = put_bucket(out, 'b', v < 0, static_cast<int>(std::bit_width(magnitude)));
  }
  if (form == NumericForm::kLog2Bucket || v == 0) return out;
  if (form == NumericForm::kBoth) *out++ = ' ';
  return put_log(out, static_cast<double>(v));
}

char* put_real(char* out, const Prefix& prefix, double v, NumericForm form) {
  if (v == 0) return put_integer(out, prefix, 0, form);
  return put_real_feature(prefix.write(out), v, form);
}

char* put_real_feature(char* out, double v, NumericForm form) {
  if (v == 0) return form == NumericForm::kValue ? out : put(out, "b0");
  if (form != NumericForm::kValue) out = put_real_bucket(out, v);
  if (form == NumericForm::kLog2Bucket) return out;
  if (form == NumericForm::kBoth) *out++ = ' ';
  return put_log(out, v);
}

std::optional<double> read_real(std::string_view text) {
  if (auto v = read_digits(text)) return v;
  // from_chars takes no plus sign, and "nan" and "inf", which are no numbers here.
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double v = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (text.empty() || end != text.data() + text.size()) return std::nullopt;
  if (error != std::errc() || !std::isfinite(v)) return std::nullopt;
  return v;
}

std::optional<bool> read_label(std::string_view text) {
  if (text == "1") return true;
  if (text == "0" || text == "-1") return false;
  if (std::optional<double> v = read_real(text)) {
    if (*v == 1) return true;
    if (*v == 0 || *v == -1) return false;
    return std::nullopt;
  }
  std::string lower(text.substr(0, 6));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (std::string_view yes : {"true", "yes", "t", "y"}) {
    if (lower == yes) return true;
  }
  for (std::string_view no : {"false", "no", "f", "n"}) {
    if (lower == no) return false;
  }
  return std::nullopt;
}

}  // namespace leveret::convert
