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

/// The columns of a layer that a shard has, by the owners of its inputs: of those that are
/// normalised, or of the others. `names` are columns of the join, and `weights` have no biases.
/// Views.
struct PartitionColumns {
  std::size_t layer;  ///< its number in Parameters
  bool normalised;
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
  /// By field: whether it has the numbers that a field owns (its embeddings), and counts what a
  /// field counts once.
  std::vector<bool> homes;
  /// By field: the fields that its rows have slots for, ascending, where rows have slots.
  std::vector<std::vector<std::uint32_t>> opposite;
  std::vector<PartitionColumns> columns;  ///< a shard's: two of each divided layer

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
  /// The columns of a join whose numbers it makes: of those that are normalised, or of the others.
  /// In the order of the join's parts, and within a part ascending, but for a candidate's pairs.
  /// Whose they are, and where the numbers lie in their tensor:
  ///
  ///   owner  everyone     a shard           a context         a candidate
  ///   kAll   all          -                 -                 -
  ///   group  the first    feature_groups    its fields'       its fields'
  ///          `shared`     by group          by group          by group
  ///   field  -            homes; by field   homes; by field   homes; by field
  ///   pair   -            opposite; one     its own; by       with the context's and its own;
  ///                       behind the other  ffm::pair_index   as FieldSplit has them
  ///
  /// Everyone's are Join::everyones. Who has a column learns its weights. Tokens of an example are
  /// rows of a layer (dense.h: declare_dense_rows), and are not divided.
  std::vector<std::uint32_t> columns_of(const Join& join, bool normalised) const;
};

/// Facts that everyone knows of examples whose features are in partitions, by example: how many
/// features of fields it has in all, and the sum of the squares of their values as they came.
struct WholeExamples {
  std::span<const float> features, squares;
};

}  // namespace leveret::tape
