#include "spec/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "feature/selector.h"
#include "rules/kinds.h"
#include "spec/makers.h"
#include "text/plain_number.h"

namespace leveret::spec {
namespace {

using rules::kAdagrad, rules::kSgd, rules::kFtrl, rules::kAdam;
using rules::RuleKind;

struct Part {
  std::string_view name;
  PartLearning Spec::*learning;
  const char* rate_option;
  bool RuleKind::*has;
};
constexpr std::array<Part, 3> kParts = {
    {{"linear", &Spec::linear, "learning_rate", &RuleKind::linear},
     {"rows", &Spec::rows, "ffm_learning_rate", &RuleKind::rows},
     {"layers", &Spec::nn, "nn_learning_rate", &RuleKind::layers}}};

/// What one word means: the rules of kParts.
struct Word {
  std::string_view name;
  std::array<std::string_view, 3> rules;
};
constexpr std::array<Word, 4> kWords = {{{"adagrad", {kAdagrad, kAdagrad, kAdagrad}},
                                         {"sgd", {kSgd, kSgd, kSgd}},
                                         {"ftrl", {kFtrl, kAdagrad, kAdagrad}},
                                         {"adam", {kAdagrad, kAdagrad, kAdam}}}};

template <class Has>
std::string rules_that(Has has) {
  std::vector<std::string> names;
  for (const RuleKind& kind : rules::rule_kinds()) {
    if (has(kind)) names.emplace_back(kind.name);
  }
  return either_of(names);
}

std::string rules_of(const Part& part) {
  return rules_that([&](const RuleKind& kind) { return kind.*part.has; });
}

/// `text`: all that was given; `at`: what is wrong with it.
[[noreturn]] void bad(const std::string& text, const std::string& at, const std::string& expected) {
  const std::string where = text == at ? "" : fmt::format("{}: ", text::shown(at));
  throw std::runtime_error(
      fmt::format("--optimizer {}: {}expected {}", text::shown(text), where, expected));
}

std::string_view read_rule(const std::string& text, const Part& part, const std::string& word) {
  const RuleKind* const found = rules::find_rule_kind(word);
  if (found == nullptr || !(found->*part.has)) {
    bad(text, word, fmt::format("{} for {}", rules_of(part), part.name));
  }
  return found->name;
}

/// "rows=sgd"
PartRule read_part(const std::string& text, const std::string& of_part) {
  const std::size_t equals = of_part.find('=');
  const auto* const part = std::ranges::find(kParts, of_part.substr(0, equals), &Part::name);
  if (equals == std::string::npos || part == kParts.end()) {
    bad(text, of_part,
        rules::find_rule_kind(of_part) != nullptr
            ? "one rule for all parts, or PART=RULE for each, as in linear=ftrl,rows=adagrad"
            : fmt::format("{}, or PART=RULE with linear, rows or layers",
                          rules_that([](const RuleKind&) { return true; })));
  }
  return {static_cast<std::size_t>(part - kParts.begin()), part->name.data(), part->rate_option,
          read_rule(text, *part, of_part.substr(equals + 1))};
}

}  // namespace

std::vector<PartRule> rules_of_parts(const std::string& text) {
  std::vector<PartRule> all;
  if (const auto* const word = std::ranges::find(kWords, text, &Word::name); word != kWords.end()) {
    for (std::size_t i = 0; i < kParts.size(); ++i) {
      all.push_back({i, kParts[i].name.data(), kParts[i].rate_option, word->rules[i]});
    }
    return all;
  }
  const std::vector<std::string> parts = feature::split_list(text);
  const auto commas = static_cast<std::size_t>(std::ranges::count(text, ','));
  if (parts.size() != commas + 1) bad(text, text, "a rule before and behind each comma");
  for (const std::string& part : parts) {
    const PartRule rule = read_part(text, part);
    if (std::ranges::find(all, rule.part, &PartRule::part) != all.end()) {
      bad(text, part, fmt::format("{} once", kParts[rule.part].name));
    }
    all.push_back(rule);
  }
  return all;
}

void set_optimizer(Spec& spec, const std::string& text) {
  const std::vector<PartRule> given = rules_of_parts(text);
  for (const Part& part : kParts) (spec.*part.learning).rule = kAdagrad;
  for (const PartRule& rule : given) (spec.*kParts[rule.part].learning).rule = rule.rule;
  const float rate = rules::find_rule_kind(spec.rows.rule)->rows_rate;
  if (rate > 0) spec.rows.rate = rate;  // entries behind this one say another
}

bool has_rules(const Spec& spec, const std::string& text) {
  return std::ranges::all_of(rules_of_parts(text), [&](const PartRule& rule) {
    return (spec.*kParts[rule.part].learning).rule == rule.rule;
  });
}

bool has_parts(const SpecEntry& option) { return std::string_view(option.name) == "optimizer"; }

std::string part_meant(const std::string& text) {
  if (text.find(',') != std::string::npos) return "";
  std::string meant = text.substr(0, text.find('='));
  if (meant != text)
    return std::ranges::find(kParts, meant, &Part::name) != kParts.end() ? meant : "";
  const auto* const word = std::ranges::find(kWords, text, &Word::name);
  if (word == kWords.end() || std::ranges::count(word->rules, text) != 1) return "";
  return std::string(
      kParts[static_cast<std::size_t>(std::ranges::find(word->rules, text) - word->rules.begin())]
          .name);
}

std::string get_optimizer(const Spec& spec) {
  const std::array given = {spec.linear.rule, spec.rows.rule, spec.nn.rule};
  const auto* const word = std::ranges::find(kWords, given, &Word::rules);
  if (word != kWords.end()) return std::string(word->name);
  std::string text;
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{}={}", i > 0 ? "," : "", kParts[i].name, given[i]);
  }
  return text;
}

}  // namespace leveret::spec
