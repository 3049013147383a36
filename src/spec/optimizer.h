/// `--optimizer`: by which rule each part of a model learns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spec/entries.h"

namespace leveret::spec {

/// From "adagrad", "sgd", "ftrl" (the linear part; the others by AdaGrad), "adam" (layers; the
/// others by AdaGrad), or a rule for each of some parts, "linear=ftrl,rows=sgd,layers=adam", where
/// the others learn by AdaGrad. std::runtime_error says what is wrong.
void set_optimizer(Spec& spec, const std::string& text);
/// Whether the parts that the text names, or all where it is a word, learn by the rules it gives.
bool has_rules(const Spec& spec, const std::string& text);

/// Whether an option has a rule for each part.
bool has_parts(const SpecEntry& option);
/// The part that "rows=sgd" or "ftrl" is about; empty: several, or none is known.
std::string part_meant(const std::string& text);

/// A rule that a text gives to a part.
struct PartRule {
  std::size_t part;         ///< in the order linear, rows, layers
  const char* name;         ///< of the part
  const char* rate_option;  ///< the entry of its rate
  std::string_view rule;    ///< its name
};
/// A word gives each part its rule. std::runtime_error says what is wrong.
std::vector<PartRule> rules_of_parts(const std::string& text);

/// The word where one says it, else the rule of each part.
std::string get_optimizer(const Spec& spec);

}  // namespace leveret::spec
