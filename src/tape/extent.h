/// How much of everything a model with so many fields has.
#pragma once

#include <cstdint>
#include <functional>

namespace leveret::tape {

struct Extent {
  std::uint32_t fields = 0;
  std::uint32_t pairs() const { return fields * (fields + 1) / 2; }
  /// Group 0 is of what has no field, group f + 1 of field f.
  std::uint32_t feature_groups() const { return fields + 1; }
};

/// Which column of a matrix, as it was with the fields of `from`, becomes column `column` of it
/// with those of `to`, which are more; kNewColumn: none does.
using ColumnSource =
    std::function<std::uint32_t(const Extent& from, const Extent& to, std::uint32_t column)>;
inline constexpr std::uint32_t kNewColumn = 0xffffffffu;

}  // namespace leveret::tape
