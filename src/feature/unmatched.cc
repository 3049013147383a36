#include "feature/unmatched.h"

#include <algorithm>
#include <iterator>

#include "feature/selector.h"

namespace leveret::feature {
namespace {

bool is_matched(const std::string& selector, const std::vector<NamespacePlan>& plans) {
  if (selector == ":") return true;  // also of none
  const bool exact = std::ranges::find(plans, selector, &NamespacePlan::name) != plans.end();
  return std::ranges::any_of(
      plans, [&](const NamespacePlan& plan) { return selects(selector, plan.name, exact); });
}

}  // namespace

std::vector<std::string> unmatched(const FeatureOptions& options,
                                   const std::vector<NamespacePlan>& plans) {
  std::vector<std::string> found;
  const auto look_at = [&](const char* option, const std::vector<std::string>& selectors) {
    for (const std::string& selector : selectors) {
      std::string entry = std::string(option) + " " + selector;
      if (is_matched(selector, plans) || std::ranges::find(found, entry) != found.end()) continue;
      found.push_back(std::move(entry));
    }
  };
  look_at("--ignore", options.ignore);
  look_at("--keep", options.keep);
  look_at("--linear", options.linear);
  for (const auto& field : options.fields) look_at("--field", field);
  for (const auto& interaction : options.interactions) look_at("--interactions", interaction);
  for (const std::string& name : options.numeric) {  // by its full name alone
    if (std::ranges::find(plans, name, &NamespacePlan::name) == plans.end()) {
      found.push_back("--numeric " + name);
    }
  }
  return found;
}

std::vector<std::string> unmatched_selectors(const std::vector<std::string>& selectors,
                                             const std::vector<NamespacePlan>& plans) {
  std::vector<std::string> found;
  std::ranges::remove_copy_if(selectors, std::back_inserter(found),
                              [&](const std::string& s) { return is_matched(s, plans); });
  return found;
}

std::vector<std::string> beside_fields(const FeatureOptions& options,
                                       const std::vector<NamespacePlan>& plans) {
  std::vector<std::string> names;
  if (options.fields.empty()) return names;
  for (const NamespacePlan& plan : plans) {
    if (plan.keep && plan.fields.empty()) names.push_back(plan.name);
  }
  return names;
}

}  // namespace leveret::feature
