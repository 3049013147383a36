/// Where a model has the features of a namespace, found once for each name of a parser. For who
/// counts what a model knows of lines, and does not learn or predict them.
#pragma once

#include <cstdint>
#include <vector>

#include "feature/feature_map.h"
#include "table/tables.h"
#include "text/namespace_names.h"

namespace leveret::model {

struct NamespacePlace {
  /// In place of a plan.
  static constexpr std::uint32_t kNotCounted = 0xffffffffu;  ///< the options leave it out
  static constexpr std::uint32_t kStrange = 0xfffffffeu;     ///< the model has never met it
  /// In place of a shard: nobody knows which of its features are known.
  static constexpr std::uint32_t kNoShard = 0xffffffffu;

  std::uint32_t plan;
  std::uint32_t shard;  ///< of table::Tables

  bool is_known() const { return plan < kStrange; }
};

/// One thread's. A name that is asked for is one that will not be met any more, or has been.
class NamespacePlaces {
 public:
  /// `names` are those of the parser whose chunks come; all outlive it. Without `tables` no place
  /// has a shard.
  NamespacePlaces(const feature::FeatureMap& features, const table::Tables* tables,
                  const text::NamespaceNames& names)
      : features_(features), tables_(tables), names_(names) {}

  NamespacePlace of(std::uint32_t name) {
    if (name < places_.size() && places_[name].plan != kNotAsked) return places_[name];
    return find(name);
  }
  /// Whether the place of a plan's namespace has a shard.
  bool has_shard(std::uint32_t plan) const {
    return shard_of(features_.plans()[plan]) != NamespacePlace::kNoShard;
  }
  /// Whether the model knows a feature of a namespace with a shard.
  bool knows(const NamespacePlace& place, std::uint32_t hash) const {
    return (*tables_)[place.shard].find(table::key_of(hash)) != nullptr;
  }

 private:
  static constexpr std::uint32_t kNotAsked = 0xfffffffdu;
  NamespacePlace find(std::uint32_t name);
  std::uint32_t shard_of(const feature::NamespacePlan& plan) const;

  const feature::FeatureMap& features_;
  const table::Tables* const tables_;
  const text::NamespaceNames& names_;
  std::vector<NamespacePlace> places_;  ///< by name
};

}  // namespace leveret::model
