/// A partition of a model, as far as blocks ask: what a shard holds of one that learns, or the
/// fields of a request's context and those of its candidates. All partitions have together what a
/// model in one place has, and their sums (sums.h) are its sums.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <span>
#include <vector>

#include "tape/dense.h"
#include "tape/field_split.h"
#include "tape/join.h"

namespace leveret::tape {

/// Columns of a first layer, by the owners of its inputs: `names` are columns of the join, and
/// `weights` have no biases.
struct PartitionColumns {
  std::span<const std::uint32_t> names;
  ConstDense weights;
};

struct Partition {
  enum class Of : std::uint8_t {
    kShard,
    /// What all partitions have in the same way: no feature is in it. On its tape blocks finish.
    kEveryone,
    kContext,
    kCandidate,  ///< it also has what its features make with the context's
  };
  Of of = Of::kShard;
  /// How fields are divided between contexts and candidates; null: there are shards. With it nobody
  /// learns, and parameters are those of the whole model.
  const FieldSplit* split = nullptr;
  /// The features of feature groups [0, shared) lie in all partitions, each feature in one.
  std::uint32_t shared = 0;
  std::vector<std::uint32_t> feature_groups;  ///< it has all of these, ascending
  std::vector<bool> homes;  ///< by field: whether it counts what a field counts once
  /// By field: the fields that its rows have slots for, ascending, where rows have slots.
  std::vector<std::vector<std::uint32_t>> opposite;
  /// A shard's columns of the first layer over merged inputs: of those that are normalised, and of
  /// the others. Views.
  PartitionColumns normalised, others;

  /// The fields of the context, or those of candidates, ascending; no shard asks.
  std::span<const std::uint32_t> split_fields() const {
    assert(of == Of::kContext || of == Of::kCandidate);
    return of == Of::kContext ? split->context : split->candidate;
  }
  /// How many pairs of fields it has.
  std::uint32_t pairs() const {
    std::uint32_t count = 0;
    for (std::uint32_t g = 0; g < opposite.size(); ++g) {
      const auto behind = std::ranges::upper_bound(opposite[g], g);
      count += static_cast<std::uint32_t>(behind - opposite[g].begin());
    }
    return count;
  }
  /// Whether all that makes the numbers of this owner is here.
  bool has(const Owner& owner) const {
    switch (owner.kind) {
      case Owner::Kind::kAll:
        return of == Of::kEveryone;
      case Owner::Kind::kFeatureGroup:
        return of == Of::kEveryone ? owner.a < shared
                                   : std::ranges::binary_search(feature_groups, owner.a);
      case Owner::Kind::kPair:
        return owner.b < opposite.size() && std::ranges::binary_search(opposite[owner.b], owner.a);
    }
    return false;
  }
};

/// Facts that everyone knows of examples whose features are in partitions, by example: how many
/// features of fields it has in all, and the sum of the squares of their values as they came.
struct WholeExamples {
  std::span<const float> features, squares;
};

}  // namespace leveret::tape
