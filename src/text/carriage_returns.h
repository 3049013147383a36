/// Files of which carriage returns alone end the lines, as on old Macs: to us they are one line.
#pragma once

#include <cstddef>
#include <string_view>

namespace leveret::text {

inline constexpr const char* kEndsByCarriageReturns =
    "its lines end with carriage returns alone, as on old Macs, so that all of it is one line; "
    "make newlines of them: tr '\\r' '\\n'";

/// Whether `line`, which a newline or the file's end follows, has a carriage return in front of
/// some other byte. `quoted`: those between two double quotes are a cell's own.
inline bool ends_by_carriage_returns(std::string_view line, bool quoted = false) {
  const std::size_t last = line.find_last_not_of("\r\n");
  if (last == std::string_view::npos) return false;
  bool in_quotes = false;
  for (std::size_t i = 0; i < last; ++i) {
    if (quoted && line[i] == '"') in_quotes = !in_quotes;
    if (line[i] == '\r' && !in_quotes && line[i + 1] != '\r' && line[i + 1] != '\n') return true;
  }
  return false;
}

}  // namespace leveret::text
