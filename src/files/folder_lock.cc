#include "files/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "files/file_calls.h"

namespace leveret::files {
namespace {

const char* folder_advice(int error) {
  switch (error) {
    case EEXIST:
      return "move the file of this name away, or name another folder";
    case ENOENT:
    case ENOTDIR:
      return "check the path for a typing error: what it goes through has to be there, and folders";
    default:
      return "name a folder that you may write to, on a disk with room";
  }
}

[[noreturn]] void fail(const std::string& path, const char* operation, int error) {
  throw std::runtime_error(fmt::format("{}: cannot {}: {}; {}", path, operation,
                                       std::strerror(error), folder_advice(error)));
}

int open_folder(const std::string& folder) {
  int fd;
  do fd = file_calls().open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) fail(folder, "open this folder", errno);
  return fd;
}

void sync_folder(const std::string& folder) {
  const int fd = open_folder(folder);
  int rc;
  do rc = file_calls().fsync(fd);
  while (rc != 0 && errno == EINTR);
  const int error = rc == 0 ? 0 : errno;
  ::close(fd);
  if (error != 0 && error != EINVAL && error != ENOTSUP) {
    fail(folder, "force to the disk this folder", error);
  }
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const std::string& busy)
    : fd_(open_folder(folder)) {
  int rc;
  do rc = ::flock(fd_, LOCK_EX | LOCK_NB);
  while (rc != 0 && errno == EINTR);
  if (rc == 0 || errno != EWOULDBLOCK) return;
  ::close(fd_);
  throw std::runtime_error(folder + ": " + busy);
}

FolderLock::~FolderLock() { ::close(fd_); }

bool make_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0777) == 0) {
    const std::string parent = std::filesystem::path(folder + "/..").lexically_normal().string();
    sync_folder(parent.empty() ? "." : parent);
    return true;
  }
  struct stat info;
  const int error = errno;
  if (error == EEXIST && ::stat(folder.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return false;
    fail(folder, "make this folder", EEXIST);
  }
  fail(folder, "make this folder", error);
}

void rename_in_folder(const std::string& folder, const std::string& from, const std::string& to) {
  const std::string path = folder + '/' + to;
  if (file_calls().rename((folder + '/' + from).c_str(), path.c_str()) != 0) {
    fail(path, "give a file this name", errno);
  }
  sync_folder(folder);
}

}  // namespace leveret::files
