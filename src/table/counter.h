/// A count that many threads raise and whose owner can be moved.
#pragma once

#include <atomic>
#include <cstdint>

namespace leveret::table {

/// All accesses are relaxed: it counts, it does not order anything. Moving needs the counter to
/// oneself.
class Counter {
 public:
  Counter(std::uint64_t value = 0) : value_(value) {}
  Counter(const Counter& other) : value_(other.get()) {}
  Counter& operator=(const Counter& other) {
    set(other.get());
    return *this;
  }

  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  /// Returns the value before.
  std::uint64_t add(std::int64_t by) {
    return value_.fetch_add(static_cast<std::uint64_t>(by), std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_;
};

}  // namespace leveret::table
