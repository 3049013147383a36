#include "cli/look/feature_names.h"

#include <algorithm>

namespace leveret::cli {

const feature::NamespacePlan& FeatureNames::plan_of(std::uint32_t name_id) {
  if (of_plans_) return features_.plans()[name_id];
  if (name_id >= plan_at_.size()) plan_at_.resize(name_id + std::size_t{1});
  std::uint32_t& at = plan_at_[name_id];
  if (at == 0) {
    const auto& plans = features_.plans();
    const auto found =
        std::ranges::find(plans, names_.name(name_id), &feature::NamespacePlan::name);
    at = static_cast<std::uint32_t>(found - plans.begin()) + 1;
  }
  return features_.plans()[at - 1];
}

/// `namespace^name`, `namespace^name^text` for a text value; the default namespace has no name.
std::string FeatureNames::name_of(const text::ExampleChunk& chunk, const text::Example& example,
                                  std::uint32_t feature) const {
  const auto run = std::ranges::upper_bound(chunk.runs.begin() + example.runs_begin,
                                            chunk.runs.begin() + example.runs_end, feature, {},
                                            &text::NamespaceRun::end);
  const std::string_view space =
      of_plans_ ? std::string_view(features_.plans()[run->name].name) : names_.name(run->name);
  const text::FeatureName& name = chunk.names[feature];
  std::string all(space);
  if (!space.empty()) all += '^';
  all += chunk.view(name.name_begin, name.name_size);
  if (name.value_size == 0) return all;
  return (all += '^') += chunk.view(name.value_begin, name.value_size);
}

}  // namespace leveret::cli
