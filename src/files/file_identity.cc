#include "files/file_identity.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

namespace leveret::files {
namespace {

namespace fs = std::filesystem;

// Linux gives up after as many links.
constexpr int kMaxLinks = 40;

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
