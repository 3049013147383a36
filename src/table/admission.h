/// When a feature gets its row.
#pragma once

#include <bit>
#include <cstdint>

namespace leveret::table {

/// A field counts occurrences of its features and its rows; the size of a row does not matter, so
/// that a row of which a rank holds a part is made when the whole one would be.
struct Admission {
  /// Rows of a field up to which the second occurrence is enough.
  static constexpr std::uint64_t kRowsOfFewOccurrences = 2048;

  std::uint32_t admit = 0;  ///< a row comes with the admit-th occurrence; 0: see below

  /// With admit 0: 2 up to kRowsOfFewOccurrences rows, and 4 more for each doubling from there. The
  /// more rows a field has, the rarer the next feature will be seen again, and the less its row is
  /// worth the memory.
  std::uint32_t needed(std::uint64_t rows) const {
    if (admit > 0) return admit;
    return 2 + 4 * static_cast<std::uint32_t>(std::bit_width(rows / kRowsOfFewOccurrences));
  }
};

}  // namespace leveret::table
