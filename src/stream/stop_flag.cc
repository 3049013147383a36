#include "stream/stop_flag.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace leveret::stream {

StopFlag::StopFlag() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "cannot make an eventfd");
}

StopFlag::~StopFlag() { close(fd_); }

void StopFlag::raise() noexcept {
  const int saved_errno = errno;  // a signal handler must leave it alone
  raised_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  // The counter can only be full if it has long been readable, which is all that is wanted.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
  errno = saved_errno;
}

}  // namespace leveret::stream
