/// How many lines are answered before others have their turn.
#pragma once

#include <cstddef>
#include <string_view>

namespace leveret::daemon {

/// Text of one.
inline constexpr std::size_t kPieceBytes = 64 << 10;

struct PieceOptions {
  bool context_lines = false;     ///< some of the lines are contexts of others
  std::size_t context_bytes = 0;  ///< of a context that came before (Scorer::context_cost)
};

/// Takes whole lines from the front of `lines`, at least one; the last of all may lack its end.
/// They take some milliseconds. A candidate may have to be scored with the whole of its context, so
/// it counts as many bytes as both; any line before it in the piece might be that, whatever a
/// client does to make it look like something else: the longest one counts.
std::string_view take_piece(std::string_view& lines, const PieceOptions& options);

}  // namespace leveret::daemon
