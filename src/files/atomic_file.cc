// Why a lock and not the number in the name tells whether a temporary file is stale: process
// numbers are reused, and inside containers every run of a program tends to have the same one. A
// lock goes with its process, and is seen across process name spaces.
#include "files/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include "files/file_calls.h"
#include "files/file_identity.h"
#include "files/stale_files.h"
#include "files/temporary_names.h"

namespace leveret::files {
namespace {

namespace fs = std::filesystem;

// Several saves of one target in one process at a time are rare; more than this is a bug.
constexpr int kMaxNames = 64;
// File systems give room by blocks of this size; an empty file may need none.
constexpr std::size_t kPageBytes = 4096;

std::string advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space on that disk, or name a file on another one";
    case EACCES:
    case EPERM:
    case EROFS:
      return "name a file in a folder that you may write to, or change its permissions";
    case ENOENT:
    case ENOTDIR:
      return "make the folder first, or check the path for a typing error";
    case EISDIR:
      return "name a file in that folder";
    case EFBIG:
      return "raise the limit of file sizes (ulimit -f), or use a file system that holds larger "
             "files";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case ELOOP:
      return "mend the symbolic links of the path";
    case EIO:
      return "check the disk (dmesg says more), and save to another one";
    default:
      return "mend that, or name another file";
  }
}

int open_again(const char* path, int flags, mode_t mode) {
  int fd;
  do fd = file_calls().open(path, flags, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

int fsync_again(int fd) {
  int rc;
  do rc = file_calls().fsync(fd);
  while (rc != 0 && errno == EINTR);
  return rc;
}

/// Some file systems and all pipes cannot fsync and say so; there is nothing to wait for then.
bool cannot_sync(int error) { return error == EINVAL || error == ENOTSUP; }

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(path) {
  struct stat existing;
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail("write", EISDIR);
  if (exists && (!S_ISREG(existing.st_mode) || names_descriptor(path))) {
    const int truncate = S_ISREG(existing.st_mode) ? O_TRUNC : 0;
    fd_ = duplicate_to_write(path);
    if (fd_ < 0) fd_ = open_again(path.c_str(), O_WRONLY | O_CLOEXEC | truncate, 0);
    if (fd_ < 0) fail("open", errno);
    return;
  }
  target_ = follow_links(path);
  if (target_.empty()) fail("open", ELOOP);
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail("replace", errno);
  remove_stale_files(target_);
  make_temporary();
  if (exists) keep_permissions();
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_) {}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::make_temporary() {
  const std::string stem = temporary_prefix(target_) + std::to_string(::getpid());
  for (int i = 0; i < kMaxNames; ++i) {
    if (open_temporary(i == 0 ? stem : fmt::format("{}-{}", stem, i))) return;
  }
  fail("make a temporary file beside", EEXIST);
}

/// False when another save has this name, or took our file for a stale one before it was locked.
bool AtomicFile::open_temporary(const std::string& name) {
  TemporaryName temporary(name);
  int error = 0;
  {
    const TemporaryStep step;
    fd_ = open_again(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) error = errno;
    if (fd_ >= 0) temporary.list(step);
  }
  if (error == EEXIST) return false;
  if (error != 0) fail("make a temporary file beside", error);
  // A file system without locks leaves the process number to tell; see stale_files.cc.
  while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat mine;
  if (::fstat(fd_, &mine) == 0 && mine.st_nlink == 0) {
    ::close(std::exchange(fd_, -1));
    return false;
  }
  temporary_ = std::move(temporary);
  return true;
}

/// The owner is kept where we may (as root), the permissions always.
void AtomicFile::keep_permissions() {
  struct stat existing;
  if (::stat(target_.c_str(), &existing) != 0) return;
  [[maybe_unused]] const int owner = ::fchown(fd_, existing.st_uid, existing.st_gid);
  if (::fchmod(fd_, existing.st_mode & 07777) != 0) {
    const int error = errno;
    discard();
    fail("keep the permissions of", error);
  }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t part = std::min(bytes.size(), kWriteBytes);
    const ssize_t written = file_calls().write(fd_, bytes.data(), part);
    if (written < 0 && errno == EINTR) continue;
    // POSIX promises progress or an error; a device that gives neither must not hang us.
    const int error = written == 0 ? EIO : errno;
    if (written <= 0) {
      discard();
      fail("write", error);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
}

void AtomicFile::write_over_front(std::span<const std::byte> bytes) {
  const std::uint64_t size = size_;
  const auto seek = [&](std::uint64_t to) {
    if (::lseek(fd_, static_cast<off_t>(to), SEEK_SET) >= 0) return;
    const int error = errno;
    discard();
    fail("write", error);
  };
  seek(0);
  write(bytes);
  seek(size);
  size_ = size;
}

void AtomicFile::commit() {
  force();
  take_name();
}

int AtomicFile::commit_with_link(const std::string& name) {
  force();
  // Before the file has its own: a link changes its state (FileState), which others watch.
  const int error = is_temporary() ? link_over(temporary(), name) : ENOTSUP;
  take_name();
  return error;
}

void AtomicFile::force() {
  if (fsync_again(fd_) != 0 && (is_temporary() || !cannot_sync(errno))) {
    const int error = errno;
    discard();
    fail("force to the disk", error);
  }
}

void AtomicFile::take_name() {
  if (is_temporary()) {
    if (const int error = rename_temporary(); error != 0) {
      discard();
      fail("rename a temporary file to", error);
    }
    // Only now may the lock go: before, the file would have been taken for a stale one.
    ::close(std::exchange(fd_, -1));
    sync_folder();
  } else if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) {
    fail("close", errno);
  }
}

/// 0, or what was wrong.
int AtomicFile::rename_temporary() noexcept {
  const TemporaryStep step;
  if (file_calls().rename(temporary().c_str(), target_.c_str()) != 0) return errno;
  temporary_.forget(step);
  return 0;
}

void AtomicFile::sync_folder() const {
  const std::string folder = fs::path(target_).parent_path().string();
  const int fd =
      open_again(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  // A folder that we may write to but not read cannot be opened, and so not forced.
  if (fd < 0 && errno == EACCES) return;
  if (fd < 0) fail("force to the disk the folder of", errno);
  const int error = fsync_again(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (error != 0 && !cannot_sync(error)) fail("force to the disk the folder of", error);
}

void AtomicFile::discard() noexcept {
  if (is_temporary()) {
    const TemporaryStep step;
    file_calls().unlink(temporary().c_str());
    temporary_.forget(step);
  }
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

void AtomicFile::fail(const char* operation, int error) const {
  throw std::runtime_error(fmt::format("{}: cannot {} this file: {}; {}", path_, operation,
                                       std::strerror(error), advice(error)));
}

/// By a name between, which one that was killed may have left.
int link_over(const std::string& file, const std::string& name) noexcept try {
  const FileCalls& calls = file_calls();
  const fs::path folder = fs::path(name).parent_path();
  const std::string between = (folder / ".new-link").string();
  calls.unlink(between.c_str());
  if (calls.link(file.c_str(), between.c_str()) != 0) return errno;
  if (calls.rename(between.c_str(), name.c_str()) != 0) {
    const int error = errno;
    calls.unlink(between.c_str());
    return error;
  }
  return 0;
} catch (const std::exception&) {
  return ENOMEM;
}

void try_save(const std::string& path) {
  AtomicFile file(path);
  if (file.is_temporary()) file.write(std::vector<std::byte>(kPageBytes));
}

}  // namespace leveret::files
