/// The fields of a model in two partitions: those whose features a request's context has, and those
/// of its candidates. What a candidate sees beside the context is then one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leveret::tape {

/// Also the order of the pairs that a candidate makes: for each of its fields those with all of the
/// context's fields, then those of its own fields by ffm::pair_index.
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
};

}  // namespace leveret::tape
