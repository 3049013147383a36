#include "reference_parser.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>

namespace leveret::text {
namespace {

struct Bad {};

using Names = std::vector<std::string>;

bool is_space(char c) { return c == ' ' || c == '\t'; }

/// Pieces of `s` between white space.
Names words(const std::string& s) {
  Names out;
  std::string word;
  for (char c : s + " ") {
    if (!is_space(c)) {
      word += c;
    } else if (!word.empty()) {
      out.push_back(word);
      word.clear();
    }
  }
  return out;
}

std::uint32_t reference_hash(std::string s, std::uint32_t seed, HashMode mode) {
  if (mode == HashMode::kStrings) {
    while (!s.empty() && static_cast<unsigned char>(s.front()) <= ' ') s.erase(0, 1);
    while (!s.empty() && static_cast<unsigned char>(s.back()) <= ' ') s.pop_back();
    if (s.find_first_not_of("0123456789") == std::string::npos) {
      std::uint64_t n = 0;
      for (char c : s) n = 10 * n + static_cast<std::uint64_t>(c - '0');
      return static_cast<std::uint32_t>(n + seed);
    }
  }
  return murmur3(s, seed);
}

float number_or_bad(const std::string& text) {
  const std::optional<float> value = reference_number(text);
  if (!value) throw Bad{};
  return *value;
}

void parse_label(const std::string& section, bool has_bar, ReferenceLine& out) {
  Names tokens = words(section);
  if (tokens.empty()) return;
  const bool touches = has_bar && !is_space(section.back());
  if (touches || tokens.back()[0] == '\'') {
    out.tag = tokens.back();
    if (out.tag[0] == '\'') out.tag.erase(0, 1);
    tokens.pop_back();
  }
  if (tokens.size() > 3) throw Bad{};
  if (tokens.size() > 0) {
    const float label = number_or_bad(tokens[0]);
    if (label != 1 && label != 0 && label != -1) throw Bad{};
    out.label = label == 1 ? 1.0f : -1.0f;
  }
  if (tokens.size() > 1) out.importance = number_or_bad(tokens[1]);
  if (out.importance < 0 || out.importance > 1e12f) throw Bad{};
  if (tokens.size() > 2) out.initial = number_or_bad(tokens[2]);
}

/// A namespace, from behind its bar: eats it from the front of `rest`.
class Space {
 public:
  Space(std::string& rest, const ParserOptions& options, ReferenceLine& out)
      : rest_(rest), options_(options), out_(out) {}

  void parse() {
    name_ = take_until(" \t|:");
    hash_ = reference_hash(name_, options_.hash_seed, options_.hash);
    if (name_.empty()) hash_ = options_.hash_seed == 0 ? 0 : murmur3("", options_.hash_seed);
    if (next() == ':') {
      if (name_.empty()) throw Bad{};
      rest_.erase(0, 1);
      drop(" ");
      weight_ = number_or_bad(take_until(" \t|"));
      weighted_ = true;
    }
    std::size_t features = 0;
    while (next() == ' ' || next() == '\t') {
      rest_.erase(0, 1);
      features += next() != ' ' && next() != '\t' && next() != '|';
      feature();
    }
    check_number(features);
    const auto& wanted = options_.numbers;
    if (number_ && std::find(wanted.begin(), wanted.end(), name_) != wanted.end()) {
      out_.features.push_back({"|" + name_, 0, *number_, "", ""});
    }
  }

 private:
  /// A namespace that is nothing but a number, and has so many features.
  void check_number(std::size_t features) const {
    const auto& only = options_.only_numbers;
    if (std::find(only.begin(), only.end(), name_) == only.end()) return;
    if (features > 1 || (features == 1 && !number_)) throw Bad{};
    for (const auto& feature : out_.features) {
      if (number_ && feature.space == "|" + name_) throw Bad{};
    }
  }

  char next() const { return rest_.empty() ? '|' : rest_[0]; }

  void drop(const char* blanks) {
    rest_.erase(0, std::min(rest_.find_first_not_of(blanks), rest_.size()));
  }

  std::string take_until(const char* stops) {
    const std::string token = rest_.substr(0, rest_.find_first_of(stops));
    rest_.erase(0, token.size());
    return token;
  }

  void feature() {
    const std::string name = take_until(" \t|:");
    if (next() != ':') {
      if (!name.empty()) add(name, "", weight_);
      count_name(name, weight_, weighted_);
      return;
    }
    rest_.erase(0, 1);
    if (!rest_.empty() && rest_[0] == ' ') {
      drop(" ");
      if (rest_.empty() || rest_[0] == '\t') {
        add(name, "", 0);
        return;
      }
    }
    if (next() == '\t') {
      drop(" \t");
      const std::string value = take_until(" \t");
      add(name, value, 1);
      if (value.empty()) count_name(name, 1, false);
      return;
    }
    // What ends a number; a string value goes on to white space.
    const std::string number = rest_.substr(0, rest_.find_first_of(" \t|:"));
    static const std::regex kNumberLike("[-+.0-9][^]*|(nan(\\([^]*\\))?|inf|infinity)",
                                        std::regex::icase);
    if (std::regex_match(number, kNumberLike)) {
      const float value = number_or_bad(take_until(" \t|")) * weight_;
      if (std::isinf(value)) throw Bad{};
      add(name, "", value);
      count(value);
    } else {
      const std::string value = take_until(" \t");
      add(name, value, 1);
      if (value.empty()) count_name(name, 1, false);
    }
  }

  /// A feature without a value stands for a number by its name, or else by its namespace's weight.
  void count_name(const std::string& name, float weight, bool weighted) {
    if (const std::optional<float> number = reference_number(name)) {
      count(*number * weight);
    } else if (weighted && !name.empty()) {
      count(weight);
    }
  }

  void count(float number) {
    if (!number_ && std::isfinite(number)) number_ = number;
  }

  void add(const std::string& name, const std::string& value, float x) {
    std::uint32_t hash = reference_hash(name, hash_, options_.hash);
    if (!value.empty()) hash = reference_hash(value, hash, options_.hash);
    if (name.empty() && value.empty()) hash = hash_ + anonymous_++;
    if (x != 0) out_.features.push_back({name_, hash, x, name, value});
  }

  std::string& rest_;
  const ParserOptions& options_;
  ReferenceLine& out_;
  std::string name_;
  std::uint32_t hash_ = 0, anonymous_ = 0;
  float weight_ = 1;
  bool weighted_ = false;
  std::optional<float> number_;
};

}  // namespace

std::optional<float> reference_number(const std::string& text) {
  static const std::regex kNumber("[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?");
  if (!std::regex_match(text, kNumber)) return std::nullopt;
  const float value = std::strtof(text.c_str(), nullptr);
  if (std::isinf(value)) return std::nullopt;
  return value;
}

ReferenceLine reference_parse(std::string line, const ParserOptions& options) {
  ReferenceLine out;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (line.rfind("\xEF\xBB\xBF", 0) == 0) line.erase(0, 3);
  if (words(line).empty()) {
    out.kind = ReferenceLine::kBlank;
    return out;
  }
  const std::size_t bar = line.find('|');
  try {
    parse_label(line.substr(0, bar), bar != std::string::npos, out);
    std::string rest = bar == std::string::npos ? "" : line.substr(bar);
    while (!rest.empty()) {
      rest.erase(0, 1);
      Space(rest, options, out).parse();
    }
  } catch (const Bad&) {
    out = ReferenceLine{};
    out.kind = ReferenceLine::kBad;
  }
  return out;
}

}  // namespace leveret::text
