/// How much memory the tables of a model may take together (--max_memory), and where they get small
/// pieces of it.
#pragma once

#include <atomic>
#include <cstdint>

#include "table/pool.h"

namespace leveret::table {

/// Safe for any number of threads. Counts what tables hold, not what the process holds.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t limit) : limit_(limit), pool_(limit) {}

  /// Takes `bytes` if they fit; a false leaves the count as it was.
  bool take(std::uint64_t bytes) {
    std::uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      if (used + bytes > limit_) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  /// Takes `bytes` whether they fit or not: what a loaded model already holds.
  void force(std::uint64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void give_back(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::uint64_t limit() const { return limit_; }

  /// Where the tables have their small pieces. One thread at a time.
  Pool& pool() { return pool_; }

 private:
  std::atomic<std::uint64_t> used_{0};
  std::uint64_t limit_;
  Pool pool_;
};

}  // namespace leveret::table
