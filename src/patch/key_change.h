/// How the keys of a section of keys changed between two files, and what that says of the rows that
/// belong to them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "patch/range_coder.h"
#include "patch/row_map.h"

namespace leveret::patch {

/// Keys come in one or two runs, each ascending by key_place: those with a row, and those without.
constexpr std::size_t kKeyRuns = 2;

struct KeyChange {
  /// An old key that is not in the run of the same number any more.
  struct Gone {
    std::uint32_t position;  ///< among all old keys
    bool moved;              ///< to the other run; else deleted
  };
  std::uint32_t first_run = 0;                   ///< how many of the old keys are in the first run
  std::array<std::vector<Gone>, kKeyRuns> gone;  ///< from which run; ascending
  std::array<std::vector<std::uint32_t>, kKeyRuns>
      inserted;  ///< into which run; ascending by place
};

/// Nothing where either file's keys are no such runs.
std::optional<KeyChange> find_change(std::span<const std::uint32_t> before,
                                     std::span<const std::uint32_t> now);

/// Nothing but the change is needed to read it, and to know for how many new keys it is.
void write_change(RangeEncoder& coder, const KeyChange& change);
/// `old_keys`: how many there are. Takes memory in proportion to `bytes`, the size of what is read
/// from. Throws CorruptCode.
KeyChange read_change(RangeDecoder& coder, std::uint32_t old_keys, std::size_t bytes);

/// Where the new keys come from.
struct KeyMap {
  RowMap rows;                       ///< new position to old position
  std::vector<std::uint32_t> fresh;  ///< keys of the positions that come from none, in order
};

KeyMap apply_change(std::span<const std::uint32_t> before, const KeyChange& change);

/// Members of `rows`, which are below `end`.
void write_rows(RangeEncoder& coder, const RowSet& rows, std::uint64_t end);
RowSet read_rows(RangeDecoder& coder, std::uint64_t end);

}  // namespace leveret::patch
