#include "rules/kinds.h"

#include <algorithm>
#include <cassert>

#include "rules/adagrad.h"
#include "rules/adam.h"

namespace leveret::rules {

const std::vector<RuleKind>& rule_kinds() {
  static const std::vector<RuleKind> all = [] {
    //                                           linear, rows, layers
    std::vector<RuleKind> kinds = {rule_kind<Adagrad>(kAdagrad, true, true, true),
                                   rule_kind<Adagrad>(kSgd, true, true, true),
                                   {kFtrl, true, false, false, nullptr},
                                   rule_kind<Adam>(kAdam, false, true, true, 0.005f)};
    kinds.insert(kinds.end(), extra_rule_kinds().begin(), extra_rule_kinds().end());
    return kinds;
  }();
  return all;
}

const RuleKind* find_rule_kind(std::string_view name) {
  const auto found = std::ranges::find(rule_kinds(), name, &RuleKind::name);
  return found != rule_kinds().end() ? &*found : nullptr;
}

RulePtr make_rule(const RuleOptions& options) {
  const RuleKind* const kind = find_rule_kind(options.part.rule);
  assert(kind != nullptr && kind->make != nullptr);
  return kind->make(options);
}

}  // namespace leveret::rules
