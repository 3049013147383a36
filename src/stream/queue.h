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
/// once the ring has gone round. Nobody waits busily, and a producer that found the queue full is
/// woken when half of it is empty: to wake a thread takes longer than to hand an item over.
///
/// The queue holds at most `slots` items and `max_bytes` bytes, or one item of any size.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t slots, std::size_t max_bytes = ~std::size_t{0})
      : ring_(slots), max_bytes_(max_bytes) {}

  /// Waits for room, then takes `item`, which counts for `bytes`, and leaves a used one in its
  /// place. False: the consumers are gone, `item` is untouched.
  bool push(T& item, std::size_t bytes = 0) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [&] { return has_room(bytes) || cancelled_; });
    if (cancelled_) return false;
    Slot& slot = ring_[(first_ + filled_) % ring_.size()];
    std::swap(slot.item, item);
    slot.bytes = bytes;
    bytes_ += bytes;
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
    std::swap(ring_[first_].item, item);
    bytes_ -= ring_[first_].bytes;
    first_ = (first_ + 1) % ring_.size();
    --filled_;
    const bool half_empty = filled_ <= ring_.size() / 2;
    lock.unlock();
    if (half_empty) has_room_.notify_one();
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
  struct Slot {
    T item;
    std::size_t bytes = 0;
  };

  bool has_room(std::size_t bytes) const {
    if (filled_ == 0) return true;
    return filled_ < ring_.size() && bytes_ <= max_bytes_ && bytes <= max_bytes_ - bytes_;
  }
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
  std::vector<Slot> ring_;
  const std::size_t max_bytes_;
  std::size_t first_ = 0, filled_ = 0, bytes_ = 0;
  bool closed_ = false, cancelled_ = false;
  std::exception_ptr error_;
};

}  // namespace leveret::stream
