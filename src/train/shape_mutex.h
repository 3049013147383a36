/// Guards the shape of a model that many learn from: they share it, and now and then one of them
/// must be alone to change it.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace leveret::train {

/// For std::unique_lock and std::shared_lock. A thread that waits to be alone comes before all that
/// want to share it after that; those who share it already are asked to let go by wanted(), and to
/// look at it costs nothing while nobody waits.
class ShapeMutex {
 public:
  void lock() {
    waiting_.fetch_add(1, std::memory_order_relaxed);
    turn_.lock();
    mutex_.lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  void unlock() {
    mutex_.unlock();
    turn_.unlock();
  }

  void lock_shared() {
    const std::lock_guard turn(turn_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

  /// Whether somebody waits to be alone. For who shares it: he may go on for a while.
  bool wanted() const { return waiting_.load(std::memory_order_relaxed) != 0; }

 private:
  std::mutex turn_;  ///< held by who is alone, or waits for it, and in passing by the others
  std::shared_mutex mutex_;
  std::atomic<unsigned> waiting_{0};
};

}  // namespace leveret::train
