/// A fault that may pass: told once, and tried again after a second, then two, up to a minute.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace leveret::serve {

/// One thread.
class Backoff {
 public:
  /// Whether it has failed, and the time to try again has not come.
  bool waits() const { return failing() && Clock::now() < next_; }
  /// Whether the last try failed.
  bool failing() const { return pause_ > Pause(0); }

  /// Whether the fault is another one than the last time, and so is to be told.
  bool failed(const std::string& problem) {
    pause_ = std::clamp(2 * pause_, kFirst, kLongest);
    next_ = Clock::now() + pause_;
    return std::exchange(problem_, problem) != problem;
  }
  void succeeded() {
    pause_ = Pause(0);
    problem_.clear();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Pause = std::chrono::milliseconds;
  static constexpr Pause kFirst{1000}, kLongest{60'000};

  Pause pause_{0};  ///< the last one between two tries
  Clock::time_point next_;
  std::string problem_;  ///< of the last try; empty: it did not fail
};

}  // namespace leveret::serve
