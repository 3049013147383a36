/// The rules that there are, each by its name: `--optimizer rows=NAME`.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/rows/codec.h"
#include "rules/learning.h"
#include "rules/rule.h"

namespace leveret::rules {

/// The options that a rule is made of.
struct RuleOptions {
  PartLearning part;
  float l2 = 0;
  // AdaGrad of rows alone.
  bool one_sum = false;                         ///< for a vector (--adagrad slice), not a weight
  float used = 1;                               ///< share of a vector's numbers that learn
  kernels::Codec sums = kernels::Codec::f32();  ///< --state_bits
};

struct RuleKind {
  std::string_view name;
  // The parts that can learn by it. Cells of the linear part know AdaGrad, SGD and FTRL alone
  // (optim/cell_optimizer.h).
  bool linear, rows, layers;
  RulePtr (*make)(const RuleOptions& options);  ///< null: it is for the linear part alone
  float rows_rate = 0;                          ///< of rows, where none is said; 0: the usual one
};

/// A kind whose class has a constructor of RuleOptions.
template <class R>
constexpr RuleKind rule_kind(std::string_view name, bool linear, bool rows, bool layers,
                             float rows_rate = 0) {
  return {name,
          linear,
          rows,
          layers,
          [](const RuleOptions& options) -> RulePtr { return std::make_shared<R>(options); },
          rows_rate};
}

/// In the order in which messages name them.
const std::vector<RuleKind>& rule_kinds();
/// Those that a program has beside the others: none (extra_kinds.cc), unless it is linked with
/// another definition.
std::span<const RuleKind> extra_rule_kinds();
/// Null where there is none of this name.
const RuleKind* find_rule_kind(std::string_view name);

/// By the kind that the options name, which has a `make`.
RulePtr make_rule(const RuleOptions& options);

}  // namespace leveret::rules
