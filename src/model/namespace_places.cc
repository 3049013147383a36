#include "model/namespace_places.h"

#include <string>

namespace leveret::model {

/// Cells without keys (-b) say nothing of single features, the rows of fields do.
std::uint32_t NamespacePlaces::shard_of(const feature::NamespacePlan& plan) const {
  if (tables_ == nullptr) return NamespacePlace::kNoShard;
  const bool cells = plan.linear && tables_->hashed() == nullptr;
  const bool in_field = tables_->has_rows() && !plan.fields.empty();
  if (!cells && !in_field) return NamespacePlace::kNoShard;
  return in_field ? plan.fields[0] + 1 : 0;
}

NamespacePlace NamespacePlaces::find(std::uint32_t name) {
  const std::string text(names_.name(name));
  NamespacePlace place{NamespacePlace::kNotCounted, NamespacePlace::kNoShard};
  // A bar begins the names of numbers (text/namespace_number.h).
  if (!text.starts_with('|')) {
    const std::uint32_t plan = features_.find_plan(text);
    if (plan == feature::FeatureMap::kUnmet) {
      if (features_.keeps(text)) place.plan = NamespacePlace::kStrange;
    } else if (features_.plans()[plan].keep) {
      place = {plan, shard_of(features_.plans()[plan])};
    }
  }
  if (name >= places_.size()) {
    places_.resize(name + std::size_t{1}, {kNotAsked, NamespacePlace::kNoShard});
  }
  return places_[name] = place;
}

}  // namespace leveret::model
