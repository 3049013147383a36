#include "files/file_state.h"

#include <sys/stat.h>

namespace leveret::files {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::optional<FileState> state_of(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return std::nullopt;
  return FileState{info.st_dev,
                   info.st_ino,
                   static_cast<std::uint64_t>(info.st_size),
                   nanoseconds(info.st_mtim),
                   nanoseconds(info.st_ctim),
                   S_ISDIR(info.st_mode)};
}

}  // namespace leveret::files
