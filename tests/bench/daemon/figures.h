/// What a load has come to.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace leveret::load {

/// Times in classes, each a 64th of a power of two wide: exact within 1.6 %.
class Histogram {
 public:
  void add(std::chrono::nanoseconds time, std::uint64_t times = 1);
  /// Seconds within which this share was; 0 where there is nothing.
  double quantile(double share) const;
  double max() const { return static_cast<double>(max_) * 1e-9; }
  std::uint64_t count() const { return count_; }

 private:
  static constexpr unsigned kBits = 6;
  std::array<std::uint64_t, (64 - kBits + 1) << kBits> classes_{};
  std::uint64_t count_ = 0, max_ = 0;
};

struct Figures {
  std::uint64_t sent = 0, answered = 0;       ///< requests, of the whole run
  std::uint64_t unsent = 0;                   ///< were due, and no connection had room for them
  std::uint64_t lost = 0;                     ///< were sent and not answered
  std::uint64_t errors = 0;                   ///< answers that are none, connections that broke
  std::uint64_t wrong = 0;                    ///< answers that no version gives
  std::uint64_t counted = 0, candidates = 0;  ///< requests answered in `seconds`, after warming up
  double seconds = 0;
  Histogram latency;                            ///< from when a request was due; those unsent, too
  std::map<std::string, std::size_t> versions;  ///< right answers, by fingerprint
  std::string first_problem;

  bool is_good() const { return lost == 0 && errors == 0 && wrong == 0; }
  /// A line of JSON. Times are in milliseconds.
  std::string json() const;
};

}  // namespace leveret::load
