/// The fields of a model in two portions: those whose features a request's context has, and those
/// of its candidates. What a candidate sees beside the context is then one piece.
#pragma once

#include <cstdint>
#include <vector>

#include "tape/parameters.h"

namespace leveret::block {

/// Also where a candidate's inputs of the MLP lie: for each of its fields the pairs with all of the
/// context's fields, then the pairs of its own fields as in InputLayout, then linear sums of
/// groups: those of its fields, then group 0; with mixed heads the counts and the seen counts of
/// the same groups, then the linear stage's score.
///
/// The context's own inputs: pairs of its fields, linear sums of their groups; counts, seen counts.
struct FieldSplit {
  static constexpr std::uint32_t kContext = 0xffffffffu;

  std::vector<std::uint32_t> context, candidate;  ///< fields, ascending; together all of the model
  std::vector<std::uint32_t> place;  ///< by field: its place in `candidate`, or kContext

  FieldSplit() = default;
  explicit FieldSplit(const std::vector<bool>& in_context) {
    for (std::uint32_t field = 0; field < in_context.size(); ++field) {
      place.push_back(in_context[field] ? kContext : static_cast<std::uint32_t>(candidate.size()));
      (in_context[field] ? context : candidate).push_back(field);
    }
  }

  std::size_t cross() const { return context.size() * candidate.size(); }
  std::size_t own_pairs() const { return candidate.size() * (candidate.size() + 1) / 2; }
  std::size_t pairs() const { return cross() + own_pairs(); }
  std::size_t groups() const { return candidate.size() + 1; }
  /// Group i of a candidate, in the numbers of LinearRun.
  std::uint32_t group(std::size_t i) const { return i < candidate.size() ? candidate[i] + 1 : 0; }

  std::size_t linear() const { return pairs(); }
  std::size_t counts() const { return linear() + groups(); }
  std::size_t seen() const { return counts() + groups(); }
  std::size_t first() const { return seen() + groups(); }
  std::size_t size(bool mixed) const { return mixed ? first() + 1 : counts(); }
  std::size_t stride(bool mixed) const { return table::whole_lines(size(mixed)); }

  std::size_t context_pairs() const { return context.size() * (context.size() + 1) / 2; }
  /// How many of the context's inputs are normalised.
  std::size_t context_counts() const { return context_pairs() + context.size(); }
  std::size_t context_size(bool mixed) const {
    return context_counts() + (mixed ? 2 * context.size() : 0);
  }
};

}  // namespace leveret::block
