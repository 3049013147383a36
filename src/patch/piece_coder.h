/// The rows of a piece of a section, given what they were: the entropy coding of a patch.
///
/// Elements are codes: unsigned numbers of the width of their type, whatever they stand for. For a
/// row that comes from an old one, the differences (modulo 2^width) are coded: which elements
/// change, and of each change sign and magnitude, in the context of the old code's own magnitude (a
/// count that was large changes by less), or, in long rows, of the change before. A fresh row is
/// coded byte by byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "patch/number_coder.h"
#include "patch/range_coder.h"
#include "patch/row_map.h"
#include "store/section.h"

namespace leveret::patch {

/// The coder's knowledge of the numbers of a column; starts as knowing nothing.
struct ColumnModels {
  static constexpr std::size_t kContexts = 32;

  std::array<BitModel, 8> changes;  ///< by which of the three elements before changed
  NumberModels gaps;                ///< or how many between two that change
  std::array<BitModel, kContexts> signs;
  std::array<std::array<BitModel, 64>, kContexts> lengths;
  TailModels tails;
  std::array<std::array<std::array<BitModel, 256>, 3>, 4> bytes;  ///< of fresh rows, the top first
};

/// Rows that follow each other in one section.
struct PieceShape {
  store::Dtype dtype;
  std::uint64_t row_bytes;           ///< a whole number of elements
  std::vector<RowRange> changeable;  ///< rows that come from old ones and may differ from them
  std::vector<RowRange> fresh;       ///< rows that come from none
};

/// How many elements of the changeable rows differ.
std::uint64_t count_changes(const PieceShape& shape, const std::byte* predicted,
                            const std::byte* rows);

/// `changes`: as counted. `predicted`: the old rows, and zero bytes for fresh ones; overwritten.
void write_piece(RangeEncoder& coder, ColumnModels& models, const PieceShape& shape,
                 std::uint64_t changes, std::byte* predicted, const std::byte* rows);
/// Makes the new rows of the predicted ones, in place. Throws CorruptCode.
void read_piece(RangeDecoder& coder, ColumnModels& models, const PieceShape& shape,
                std::uint64_t changes, std::byte* rows);

}  // namespace leveret::patch
