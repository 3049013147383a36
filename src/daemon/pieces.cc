#include "daemon/pieces.h"

#include "text/label.h"

namespace leveret::daemon {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;

bool is_empty(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool begins_request(std::string_view line) {
  return line.starts_with('@') || text::has_shared_label(line);
}

/// Where the line at `begin` ends, behind its newline.
std::size_t end_of_line(std::string_view lines, std::size_t begin) {
  const std::size_t end = lines.find('\n', begin);
  return end == std::string_view::npos ? lines.size() : end + 1;
}

/// Bytes of a piece, where lines may cost more than theirs.
std::size_t size_of_piece(std::string_view lines, const PieceOptions& options) {
  bool between = !options.in_request;
  std::size_t of_context = options.context_bytes, cost = 0, size = 0;
  while (size < lines.size() && cost < kPieceBytes) {
    const std::size_t end = end_of_line(lines, size);
    const std::string_view line = lines.substr(size, end - size);
    size = end;
    if (options.context_lines && is_empty(line)) {
      between = true;
      of_context = 0;
    } else if (options.context_lines && (between || begins_request(line))) {
      between = false;
      of_context = line.size();
    } else {
      cost += of_context;
    }
    cost += line.size();
  }
  return size;
}

}  // namespace

std::string_view take_piece(std::string_view& lines, const PieceOptions& options) {
  std::size_t size = lines.size();
  if (options.context_lines || options.context_bytes > 0) {
    size = size_of_piece(lines, options);
  } else if (size > kPieceBytes) {
    size = end_of_line(lines, kPieceBytes - 1);
  }
  const std::string_view piece = lines.substr(0, size);
  lines.remove_prefix(size);
  return piece;
}

}  // namespace leveret::daemon
