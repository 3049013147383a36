#include "files/stale_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "files/file_calls.h"

namespace leveret::files {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".leveret-tmp.";
// Names have 255 bytes on Linux; the mark, two numbers and a dot need up to 32.
constexpr std::size_t kMaxStem = 223;

bool process_is_gone(std::string_view number) {
  pid_t process = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), process);
  if (error != std::errc() || process <= 0) return false;
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Removes `path` unless a live process holds its lock. The lock is taken while it is removed, so
/// that a writer that has just made the file either has it first or sees that its file is gone.
void remove_if_stale(const std::string& path, std::string_view number) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  const bool stale = locked || (errno != EWOULDBLOCK && process_is_gone(number));
  struct stat opened, named;
  if (stale && ::fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) &&
      ::lstat(path.c_str(), &named) == 0 && same_file(opened, named)) {
    file_calls().unlink(path.c_str());
  }
  ::close(fd);
}

}  // namespace

std::string temporary_prefix(const std::string& target) {
  const fs::path path = target;
  const std::string stem = path.filename().string().substr(0, kMaxStem);
  return (path.parent_path() / ("." + stem + std::string(kMark))).string();
}

void remove_stale_files(const std::string& target) noexcept try {
  const fs::path prefix = temporary_prefix(target);
  const std::string start = prefix.filename().string();
  const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(start)) {
      remove_if_stale(it->path().string(), std::string_view(name).substr(start.size()));
    }
  }
} catch (...) {
}

void remove_stale_files_in(const std::string& folder,
                           const std::function<bool(std::string_view name)>& is_ours) noexcept try {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const std::size_t mark = name.find(kMark);
    if (mark == std::string::npos || name[0] != '.') continue;
    const std::string_view view = name;
    if (is_ours(view.substr(1, mark - 1))) {
      remove_if_stale(it->path().string(), view.substr(mark + kMark.size()));
    }
  }
} catch (...) {
}

}  // namespace leveret::files
