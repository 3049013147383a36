/// How many lines are answered before others have their turn.
#pragma once

#include <cstddef>
#include <string_view>

namespace leveret::daemon {

/// What is known of a stretch of lines before it is parsed.
struct PieceOptions {
  /// Some lines are contexts: the first (unless `in_request`), one behind an empty line, one that
  /// is labelled "shared" or names a model.
  bool context_lines = false;
  bool in_request = false;        ///< the lines begin with candidates of a context that came before
  std::size_t context_bytes = 0;  ///< that each of these costs beside its own: Scorer::context_cost
};

/// Takes whole lines from the front of `lines`, at least one; the last of all may lack its end.
/// They take some milliseconds: a candidate counts as many bytes as its line and its context's,
/// since it may have to be scored with the whole context.
std::string_view take_piece(std::string_view& lines, const PieceOptions& options);

}  // namespace leveret::daemon
