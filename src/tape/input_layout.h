/// How much of everything a model with so many fields has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table/aligned.h"

namespace leveret::tape {

/// The place at which a group of inputs of the MLP begins, behind the pairs, which come first; see
/// NormBlock.
struct InputLayout {
  std::uint32_t fields = 0;
  std::uint32_t pairs() const { return fields * (fields + 1) / 2; }
  std::uint32_t groups() const { return fields + 1; }
  std::uint32_t linear() const { return pairs(); }
  std::uint32_t counts() const { return linear() + groups(); }
  std::uint32_t seen() const { return counts() + groups(); }
  std::uint32_t first() const { return seen() + groups(); }
  /// With one head only pairs and linear sums are inputs.
  std::uint32_t size(bool mixed) const { return mixed ? first() + 1 : counts(); }
  /// Floats from one example's inputs to the next one's.
  std::size_t stride(bool mixed) const { return table::whole_lines(size(mixed)); }
};

/// Which column of what is laid out by `from` becomes column `column` of what is laid out by `to`,
/// which has more fields; kNewColumn: none does.
using ColumnSource = std::uint32_t (*)(const InputLayout& from, const InputLayout& to,
                                       std::uint32_t column);
inline constexpr std::uint32_t kNewColumn = 0xffffffffu;

/// The ColumnSource of segments of a column for each group, and of what there is one of behind
/// them: what was column i of a segment stays column i of it.
inline std::uint32_t source_of_segments(const InputLayout& from, const InputLayout& to,
                                        std::uint32_t column) {
  const std::uint32_t segment = column / to.groups(), group = column % to.groups();
  return group < from.groups() ? segment * from.groups() + group : kNewColumn;
}

}  // namespace leveret::tape
