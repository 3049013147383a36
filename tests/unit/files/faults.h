/// Makes one system call of a save fail, or the process end there.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "files/file_calls.h"

namespace leveret::files {

/// What happens at the chosen call.
enum class Fault { kNone, kNoSpace, kInputOutput, kShortWrites, kInterrupts, kNothing, kExit };

/// Puts failing calls in while it lives. Calls of all kinds are counted together, from 0.
class Faults {
 public:
  Faults(Fault fault, int at) : real_(file_calls()) {
    state() = {fault, at, 0, real_};
    file_calls() = {
        [](const char* path, int flags, mode_t mode) {
          return strike() ? -1 : state().real.open(path, flags, mode);
        },
        [](int fd, const void* data, std::size_t bytes) -> ssize_t {
          if (state().fault == Fault::kShortWrites) bytes = std::min<std::size_t>(bytes, 1000);
          const bool struck = strike();
          if (struck && state().fault == Fault::kNothing) return 0;
          return struck ? -1 : state().real.write(fd, data, bytes);
        },
        [](int fd) { return strike() ? -1 : state().real.fsync(fd); },
        [](const char* from, const char* to) {  // is never interrupted (rename(2))
          const bool struck = state().fault != Fault::kInterrupts && strike();
          return struck ? -1 : state().real.rename(from, to);
        },
        state().real.unlink,
        [](const char* from, const char* to) {
          const bool struck = state().fault != Fault::kInterrupts && strike();
          return struck ? -1 : state().real.link(from, to);
        },
    };
  }
  ~Faults() { file_calls() = real_; }
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  static int calls() { return state().calls; }

 private:
  struct State {
    Fault fault;
    int at;
    int calls;
    FileCalls real;
  };
  static State& state() {
    static State one = {};
    return one;
  }

  /// Counts a call; true when it fails, errno is set then.
  static bool strike() {
    State& s = state();
    const int call = s.calls++;
    if (s.fault == Fault::kInterrupts) {  // every second call
      errno = EINTR;
      return call % 2 == 0;
    }
    if (call != s.at) return false;
    if (s.fault == Fault::kExit) ::_exit(9);
    errno = s.fault == Fault::kNoSpace ? ENOSPC : EIO;
    return s.fault == Fault::kNoSpace || s.fault == Fault::kInputOutput ||
           s.fault == Fault::kNothing;
  }

  FileCalls real_;
};

}  // namespace leveret::files
