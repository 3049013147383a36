#include "text/namespace_number.h"

#include <algorithm>
#include <cmath>

#include "text/number.h"

namespace leveret::text {
namespace {

struct Weight {
  float factor = 1;
  bool given = false;
};

bool read(std::string_view text, float& number) {
  return parse_number(text, number) == NumberStatus::kOk;
}

std::string_view before_colon(std::string_view token) { return token.substr(0, token.find(':')); }

/// Empty when there is no colon, too.
std::string_view behind_colon(std::string_view token) {
  return token.substr(std::min(token.size(), before_colon(token).size() + 1));
}

std::optional<float> feature_number(std::string_view token, Weight weight) {
  if (token.ends_with(':')) weight = {};  // it does not touch these
  const std::string_view value = behind_colon(token);
  float number = 1;
  if (!read(value.empty() ? before_colon(token) : value, number)) {
    if (!weight.given || !value.empty()) return std::nullopt;
  }
  number *= weight.factor;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace

std::optional<float> namespace_number(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  Weight weight;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find_first_of(kBlanks, begin), text.size());
    const std::string_view token = text.substr(begin, end - begin);
    if (begin == 0) {
      weight.given = read(behind_colon(token), weight.factor);
    } else if (!token.empty()) {
      if (const auto number = feature_number(token, weight)) return number;
    }
  }
  return std::nullopt;
}

}  // namespace leveret::text
