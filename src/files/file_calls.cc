#include "files/file_calls.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace leveret::files {
namespace {

/// Signals that write() sends to the thread that calls it, besides failing: at the limit of a
/// file's size (ulimit -f), and where nobody reads a pipe. Either would end the process, which the
/// library's host decides about.
constexpr int kSignalsOfWrite[] = {SIGXFSZ, SIGPIPE};

bool is_pending(int signal) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

/// write() that only fails: EFBIG, EPIPE. Dispositions of signals stay the host's, and a signal
/// that was waiting before goes on waiting.
ssize_t write_without_signals(int fd, const void* data, std::size_t bytes) {
  sigset_t sent, before;
  sigemptyset(&sent);
  for (const int signal : kSignalsOfWrite) {
    if (!is_pending(signal)) sigaddset(&sent, signal);
  }
  pthread_sigmask(SIG_BLOCK, &sent, &before);
  const ssize_t written = ::write(fd, data, bytes);
  const int error = errno;
  if (written < 0 && (error == EFBIG || error == EPIPE)) {
    const timespec at_once = {};
    while (sigtimedwait(&sent, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace

FileCalls& file_calls() {
  static FileCalls calls = {
      [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); },
      write_without_signals,
      ::fsync,
      ::rename,
      ::unlink,
      ::link,
  };
  return calls;
}

}  // namespace leveret::files
