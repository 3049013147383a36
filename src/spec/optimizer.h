/// `--optimizer`: by which rule each part of a model learns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/spec.h"

namespace leveret::spec {

/// From "adagrad", "sgd", "ftrl" (the linear part; the others by AdaGrad), "adam" (layers; the
/// others by AdaGrad), or a rule for each of some parts,
/// "linear=ftrl,rows=sgd:rate=.1,layers=adam", where the others learn by AdaGrad.
/// std::runtime_error says what is wrong.
void set_optimizer(Spec& spec, const std::string& text);
/// Sets the rates that it gives, which may change when learning goes on.
void set_rates(Spec& spec, const std::string& text);

/// A rule that a text gives to a part.
struct PartRule {
  std::size_t part;         ///< in the order linear, rows, layers
  const char* name;         ///< of the part
  const char* rate_option;  ///< the option, without dashes, that gives this part its rate, too
  std::string_view rule;    ///< its name
  std::optional<float> rate;
};
/// A word gives each part its rule, without rates. std::runtime_error says what is wrong.
std::vector<PartRule> rules_of_parts(const std::string& text);

/// The word where one says it, else the rule of each part. Rates are entries of their own.
std::string get_optimizer(const Spec& spec);

}  // namespace leveret::spec
