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

/// Reads a namespace token by token, as the parser does (man/leveret-text.5).
class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  /// Takes blanks off the front.
  void pass(std::string_view blanks) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size()));
  }
  /// Takes what comes before one of `ends`.
  std::string_view take(std::string_view ends) {
    const std::string_view token = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(token.size());
    return token;
  }
  bool take_colon() {
    if (!rest_.starts_with(':')) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool at(char c) const { return rest_.starts_with(c); }

 private:
  std::string_view rest_;
};

constexpr std::string_view kBlanks = " \t";

/// Takes a feature. A weight does not touch one with nothing behind its colon.
std::optional<float> feature_number(Tokens& tokens, Weight weight) {
  const std::string_view name = tokens.take(" \t:");
  const bool colon = tokens.take_colon();
  const bool spaces = colon && tokens.at(' ');
  if (spaces) tokens.pass(" ");
  if (spaces && (tokens.empty() || tokens.at('\t'))) return std::nullopt;
  const bool is_text = colon && tokens.at('\t');
  if (is_text) tokens.pass(kBlanks);
  const std::string_view value = colon ? tokens.take(kBlanks) : "";
  if (is_text && !value.empty()) return std::nullopt;
  if (colon && value.empty()) weight = {};
  float number = 1;
  if (!read(value.empty() ? name : value, number)) {
    if (!weight.given || !value.empty()) return std::nullopt;
  }
  number *= weight.factor;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

/// Takes the namespace's name and its weight.
Weight take_name(Tokens& tokens) {
  Weight weight;
  tokens.take(" \t:");
  if (tokens.take_colon()) {
    tokens.pass(" ");
    weight.given = read(tokens.take(kBlanks), weight.factor);
  }
  return weight;
}

}  // namespace

std::size_t namespace_features(std::string_view text) {
  Tokens tokens(text);
  const Weight weight = take_name(tokens);
  std::size_t count = 0;
  for (tokens.pass(kBlanks); !tokens.empty(); tokens.pass(kBlanks)) {
    feature_number(tokens, weight);
    ++count;
  }
  return count;
}

std::optional<float> namespace_number(std::string_view text) {
  Tokens tokens(text);
  const Weight weight = take_name(tokens);
  for (tokens.pass(kBlanks); !tokens.empty(); tokens.pass(kBlanks)) {
    if (const auto number = feature_number(tokens, weight)) return number;
  }
  return std::nullopt;
}

}  // namespace leveret::text
