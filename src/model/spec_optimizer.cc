#include "model/spec_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "feature/selector.h"
#include "text/plain_number.h"

namespace leveret::model {
namespace {

using enum UpdateRule;

/// In the order of the enum.
constexpr std::array<std::string_view, 4> kRules = {"adagrad", "sgd", "ftrl", "adam"};

struct Part {
  std::string_view name;
  PartLearning Spec::*learning;
  UpdateRule third;  ///< that it has, beside AdaGrad and SGD; kSgd: none
};
constexpr std::array<Part, 3> kParts = {
    {{"linear", &Spec::linear, kFtrl}, {"rows", &Spec::ffm, kSgd}, {"layers", &Spec::nn, kAdam}}};

/// What one word means: the rules of kParts.
struct Word {
  std::string_view name;
  std::array<UpdateRule, 3> rules;
};
constexpr std::array<Word, 4> kWords = {{{"adagrad", {kAdagrad, kAdagrad, kAdagrad}},
                                         {"sgd", {kSgd, kSgd, kSgd}},
                                         {"ftrl", {kFtrl, kAdagrad, kAdagrad}},
                                         {"adam", {kAdagrad, kAdagrad, kAdam}}}};

std::string_view name_of(UpdateRule rule) { return kRules[static_cast<std::size_t>(rule)]; }

bool has_rule(const Part& part, UpdateRule rule) {
  return rule == kAdagrad || rule == kSgd || rule == part.third;
}

std::string rules_of(const Part& part) {
  return part.third == kSgd ? "adagrad or sgd"
                            : fmt::format("adagrad, sgd or {}", name_of(part.third));
}

[[noreturn]] void bad(const std::string& text, const std::string& expected) {
  throw std::runtime_error(fmt::format("--optimizer {}: expected {}", text::shown(text), expected));
}

UpdateRule read_rule(const Part& part, const std::string& word) {
  const auto* const found = std::ranges::find(kRules, word);
  const auto rule = static_cast<UpdateRule>(found - kRules.begin());
  if (found == kRules.end() || !has_rule(part, rule)) {
    bad(word, fmt::format("{} for {}", rules_of(part), part.name));
  }
  return rule;
}

/// "rate=.1"
void read_setting(PartLearning& learning, const std::string& text) {
  constexpr std::string_view kRate = "rate=";
  if (!text.starts_with(kRate)) bad(text, "rate=X");
  const auto rate = text::read_real(text.substr(kRate.size()), 0.0f, 1e30f);
  if (!rate) bad(text, "a rate from 0 to 1e30");
  learning.rate = *rate;
}

/// "rows=sgd:rate=.1"
void read_part(Spec& spec, const std::string& text, std::array<bool, 3>& given) {
  const std::size_t equals = text.find('=');
  const auto* const part = std::ranges::find(kParts, text.substr(0, equals), &Part::name);
  if (equals == std::string::npos || part == kParts.end()) {
    bad(text, "adagrad, sgd, ftrl or adam, or PART=RULE with linear, rows or layers");
  }
  bool& twice = given[static_cast<std::size_t>(part - kParts.begin())];
  if (twice) bad(text, fmt::format("{} once", part->name));
  twice = true;
  const std::string rest = text.substr(equals + 1);
  const std::size_t colon = rest.find(':');
  PartLearning& learning = spec.*part->learning;
  learning.rule = read_rule(*part, rest.substr(0, colon));
  if (colon != std::string::npos) read_setting(learning, rest.substr(colon + 1));
}

}  // namespace

void set_optimizer(Spec& spec, const std::string& text) {
  const auto* const word = std::ranges::find(kWords, text, &Word::name);
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    (spec.*kParts[i].learning).rule = word != kWords.end() ? word->rules[i] : kAdagrad;
  }
  if (word != kWords.end()) return;
  std::array<bool, 3> given = {};
  const std::vector<std::string> parts = feature::split_list(text);
  if (parts.empty()) bad(text, "a rule");
  for (const std::string& part : parts) read_part(spec, part, given);
}

std::string get_optimizer(const Spec& spec) {
  const std::array<UpdateRule, 3> rules = {spec.linear.rule, spec.ffm.rule, spec.nn.rule};
  const auto* const word = std::ranges::find(kWords, rules, &Word::rules);
  if (word != kWords.end()) return std::string(word->name);
  std::string text;
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{}={}", i > 0 ? "," : "", kParts[i].name,
                   name_of(rules[i]));
  }
  return text;
}

}  // namespace leveret::model
