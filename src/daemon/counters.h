/// The counts of a server. One thread writes each of these, any number read: nobody waits.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace leveret::daemon {

/// Written by one thread.
class Count {
 public:
  void add(std::uint64_t more = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Seconds that requests took, in classes.
class Latencies {
 public:
  /// Upper bounds in seconds; those above the last are a class of their own.
  static constexpr std::array<double, 16> kBounds = {25e-6,  5e-5, 1e-4, 25e-5, 5e-4, 1e-3,
                                                     2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1,
                                                     0.25,   0.5,  1.0,  2.5};
  static constexpr std::size_t kClasses = kBounds.size() + 1;
  using Counts = std::array<std::uint64_t, kClasses>;

  void add(std::chrono::nanoseconds time) {
    const double seconds = std::chrono::duration<double>(time).count();
    std::size_t i = 0;
    while (i < kBounds.size() && seconds > kBounds[i]) ++i;
    classes_[i].add();
    nanoseconds_.add(static_cast<std::uint64_t>(time.count()));
  }
  /// Adds its classes to `counts`; returns the seconds of all.
  double add_to(Counts& counts) const {
    for (std::size_t i = 0; i < kClasses; ++i) counts[i] += classes_[i].get();
    return static_cast<double>(nanoseconds_.get()) * 1e-9;
  }

 private:
  std::array<Count, kClasses> classes_;
  Count nanoseconds_;
};

/// Counts of one model, by one thread.
struct ModelCounts {
  Count requests;            ///< of HTTP, blocks, or stretches of lines that came together
  Count predictions;         ///< lines and candidates that were scored
  Count bad;                 ///< those that are no examples
  Count unknown_namespaces;  ///< namespaces of examples that the model does not know
  Count contexts_found, contexts_made;
  // Counts of whole windows of lines (skew::SkewCounts).
  Count skew_windows, skewed_windows, strange_namespaces, missing_namespaces;
  Count features, unknown_features;
  Latencies latencies;  ///< of requests
};

/// Counts of one thread, whatever the model.
struct ThreadCounts {
  Count connections_opened, connections_closed;
  Count closed_idle, closed_slow;            ///< of these, by the server, for their time-out
  Count http_ok, http_refused, http_failed;  ///< answers 2xx, 4xx, 5xx
};

}  // namespace leveret::daemon
