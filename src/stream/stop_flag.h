/// Asks a reader, wherever it waits, to end soon.
#pragma once

#include <atomic>

namespace leveret::stream {

/// raise() may be called from any thread and from a signal handler; it stays raised. The flag must
/// outlive whoever watches it.
class StopFlag {
 public:
  StopFlag();
  ~StopFlag();
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  void raise() noexcept;
  bool raised() const noexcept { return raised_.load(std::memory_order_acquire); }
  /// Readable (poll) from raise() on, so that a wait for input also ends with the flag.
  int fd() const noexcept { return fd_; }

 private:
  std::atomic<bool> raised_{false};
  int fd_;
};

}  // namespace leveret::stream
