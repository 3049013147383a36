#include "stream/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace leveret::stream {
namespace {

[[noreturn]] void throw_errno(const std::string& name, const char* doing, int error) {
  const char* advice = "";
  if (error == ENOENT) advice = "; check the path";
  if (error == EACCES || error == EPERM) advice = "; check its permissions";
  if (error == EMFILE || error == ENFILE) advice = "; raise the limit of open files (ulimit -n)";
  if (error == EIO) advice = "; the disk or file system reports a fault, check dmesg";
  throw std::runtime_error(
      fmt::format("{}: cannot {}: {}{}", name, doing, std::strerror(error), advice));
}

/// The size of a regular file; throws for what can never be read as a stream of bytes.
std::optional<std::uint64_t> size_of(const std::string& name, const struct stat& info) {
  if (S_ISDIR(info.st_mode)) {
    throw std::runtime_error(name + ": is a directory; give the files in it instead");
  }
  if (S_ISSOCK(info.st_mode) && name != display_name("-")) {
    throw std::runtime_error(name + ": is a socket; connect to it with a tool such as nc and pipe");
  }
  // Files of /proc and the like say 0 whatever they hold.
  if (!S_ISREG(info.st_mode) || info.st_size == 0) return std::nullopt;
  return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace

std::string display_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::optional<std::uint64_t> check_readable(const std::string& path) {
  const std::string name = display_name(path);
  struct stat info;
  if (path == "-") {
    if (fstat(STDIN_FILENO, &info) != 0) throw_errno(name, "read", errno);
  } else {
    if (stat(path.c_str(), &info) != 0) throw_errno(name, "open", errno);
    if (access(path.c_str(), R_OK) != 0) throw_errno(name, "open", errno);
  }
  return size_of(name, info);
}

InputFile::InputFile(const std::string& path, const StopFlag* stop)
    : name_(display_name(path)), stop_(stop) {
  if (path == "-") {
    fd_ = STDIN_FILENO;
  } else {
    // Non-blocking, else opening a named pipe would wait for its writer, deaf to the stop flag.
    fd_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd_ < 0) throw_errno(name_, "open", errno);
  }
  struct stat info;
  try {
    if (fstat(fd_, &info) != 0) throw_errno(name_, "read", errno);
    size_ = size_of(name_, info);
  } catch (...) {
    if (fd_ != STDIN_FILENO) close(fd_);
    throw;
  }
  regular_ = S_ISREG(info.st_mode);
  if (regular_) posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

InputFile::~InputFile() {
  if (fd_ != STDIN_FILENO) close(fd_);
}

bool InputFile::readable(int timeout_ms) {
  pollfd watched[2] = {{fd_, POLLIN, 0}, {stop_ ? stop_->fd() : -1, POLLIN, 0}};
  if (poll(watched, 2, timeout_ms) < 0) {
    if (errno == EINTR || errno == EAGAIN) return false;
    throw_errno(name_, "wait for input", errno);
  }
  // An error or a hang-up is for read() to tell.
  return watched[0].revents != 0;
}

std::optional<std::size_t> InputFile::try_read(char* to, std::size_t max) {
  if (stopped()) return 0;
  // The poll is needed even for a non-blocking descriptor: a named pipe that no writer has opened
  // yet reads as ended.
  if (!regular_ && !readable(0)) return std::nullopt;
  const ssize_t got = read(fd_, to, max);
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return std::nullopt;
    throw_errno(name_, "read", errno);
  }
  offset_.fetch_add(static_cast<std::uint64_t>(got), std::memory_order_relaxed);
  return static_cast<std::size_t>(got);
}

void InputFile::wait(std::optional<std::chrono::milliseconds> patience) {
  if (patience) {
    readable(static_cast<int>(patience->count()));
    return;
  }
  while (!stopped() && !readable(-1)) {
  }
}

}  // namespace leveret::stream
