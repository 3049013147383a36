#include "daemon/pieces.h"

#include <algorithm>

namespace leveret::daemon {
namespace {

/// Where the line at `begin` ends, behind its newline.
std::size_t end_of_line(std::string_view lines, std::size_t begin) {
  const std::size_t end = lines.find('\n', begin);
  return end == std::string_view::npos ? lines.size() : end + 1;
}

/// Bytes of a piece whose lines count with a context.
std::size_t size_with_contexts(std::string_view lines, const PieceOptions& options) {
  std::size_t of_context = options.context_bytes, cost = 0, size = 0;
  while (size < lines.size() && cost < kPieceBytes) {
    const std::size_t end = end_of_line(lines, size), line = end - size;
    cost += line + of_context;
    if (options.context_lines) of_context = std::max(of_context, line);
    size = end;
  }
  return size;
}

}  // namespace

std::string_view take_piece(std::string_view& lines, const PieceOptions& options) {
  std::size_t size = lines.size();
  if (options.context_lines || options.context_bytes > 0) {
    size = size_with_contexts(lines, options);
  } else if (size > kPieceBytes) {
    size = end_of_line(lines, kPieceBytes - 1);
  }
  const std::string_view piece = lines.substr(0, size);
  lines.remove_prefix(size);
  return piece;
}

}  // namespace leveret::daemon
