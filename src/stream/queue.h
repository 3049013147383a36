/// A bounded queue between threads that recycles what passes through it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace leveret::stream {

/// Any number of producers and consumers. T's are swapped in and out of a ring of `slots`: what a
/// consumer is done with goes back to a producer with its capacity, so that nothing is allocated
/// once the ring has gone round. Nobody waits busily.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t slots) : ring_(slots) {}

  /// Waits for room, then takes `item` and leaves a used one in its place. False: the consumers are
  /// gone, `item` is untouched.
  bool push(T& item) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return filled_ < ring_.size() || cancelled_; });
    if (cancelled_) return false;
    std::swap(ring_[(first_ + filled_) % ring_.size()], item);
    ++filled_;
    lock.unlock();
    has_item_.notify_one();
    return true;
  }

  /// Waits for an item; false when there will be none. The error of fail() comes after the items
  /// that were pushed before it, to every consumer.
  bool pop(T& item) {
    std::unique_lock lock(mutex_);
    has_item_.wait(lock, [this] { return filled_ > 0 || closed_ || cancelled_; });
    if (cancelled_) return false;
    if (filled_ == 0) {
      if (error_) std::rethrow_exception(error_);
      return false;
    }
    std::swap(ring_[first_], item);
    first_ = (first_ + 1) % ring_.size();
    --filled_;
    lock.unlock();
    has_room_.notify_one();
    return true;
  }

  /// The producers have no more.
  void close() { finish(nullptr); }
  /// The producers ended by an error.
  void fail(std::exception_ptr error) { finish(error); }
  /// The consumers want no more: pushes and pops return false, at once.
  void cancel() {
    {
      std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    has_room_.notify_all();
    has_item_.notify_all();
  }

 private:
  void finish(std::exception_ptr error) {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
      error_ = error;
    }
    has_item_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable has_item_, has_room_;
  std::vector<T> ring_;
  std::size_t first_ = 0, filled_ = 0;
  bool closed_ = false, cancelled_ = false;
  std::exception_ptr error_;
};

}  // namespace leveret::stream
