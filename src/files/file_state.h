/// Which file is under a name, and whether it is as it was.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace leveret::files {

/// Equal for a file that nobody has written, renamed over or replaced in between.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t written = 0, changed = 0;  ///< nanoseconds since 1970: content, and anything of it
  bool is_folder = false;

  auto operator<=>(const FileState&) const = default;
};

/// The state of what the path leads to; nothing where that is no regular file or folder. Opens
/// nothing.
std::optional<FileState> state_of(const std::string& path);

}  // namespace leveret::files
