/// When a feature gets its row.
#pragma once

#include <bit>
#include <cstdint>

namespace leveret::table {

/// A field counts occurrences of its features and its rows; the size of a row does not matter, so
/// that a row of which a rank holds a part is made when the whole one would be.
struct Admission {
  /// Rows of a field up to which the second occurrence is enough. Measured: frappe_87k, where a field
  /// has 4,082 values, .2644 with 4096 or more and .2681 with 2048 (logloss, five seeds); 300,000
  /// generated rows of 39 fields, k = 4, .46737 and .46740 with 33 and 23 MB of rows.
  static constexpr std::uint64_t kRowsOfFewOccurrences = 4096;

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
