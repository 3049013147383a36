#include "files/file_identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

namespace leveret::files {
namespace {

namespace fs = std::filesystem;

// Linux gives up after as many links.
constexpr int kMaxLinks = 40;

/// -1 for a path that names no descriptor of this process by its number.
int descriptor_of(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  const std::string own = "/proc/" + std::to_string(::getpid()) + "/fd/";
  for (const std::string_view folder : {std::string_view("/dev/fd/"),
                                        std::string_view("/proc/self/fd/"), std::string_view(own)}) {
    if (!path.starts_with(folder)) continue;
    path.remove_prefix(folder.size());
    int number = -1;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
    return error == std::errc() && end == path.data() + path.size() ? number : -1;
  }
  return -1;
}

}  // namespace

std::string follow_links(const std::string& path) {
  fs::path at = path;
  for (int links = 0; links < kMaxLinks; ++links) {
    std::error_code error;
    const fs::path to = fs::read_symlink(at, error);
    if (error) return at.string();
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  return {};
}

bool names_descriptor(std::string_view path) {
  return path.starts_with("/proc/") || path.starts_with("/dev/fd/") || path == "/dev/stdout" ||
         path == "/dev/stderr";
}

int duplicate_to_write(std::string_view path) {
  const int descriptor = descriptor_of(path);
  if (descriptor < 0) return -1;
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return -1;
  return ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

std::optional<FileIdentity> identify(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISCHR(info.st_mode) || S_ISSOCK(info.st_mode)) return std::nullopt;
    return FileIdentity{info.st_dev, info.st_ino, ""};
  }
  const fs::path target = follow_links(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (target.empty() || ::stat(folder.c_str(), &info) != 0) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino, target.filename().string()};
}

std::optional<FileIdentity> identify(int descriptor) {
  struct stat info;
  if (::fstat(descriptor, &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode)) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino, ""};
}

}  // namespace leveret::files
