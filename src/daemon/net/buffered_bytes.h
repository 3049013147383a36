/// The bytes that all connections together may hold of requests that are not answered yet.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstddef>

namespace leveret::daemon {

/// Any number of threads.
class BufferLimit {
 public:
  explicit BufferLimit(std::size_t max_bytes) : max_(max_bytes) {}

  bool take(std::size_t bytes) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= max_) return true;
    give_back(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::size_t max_;
  std::atomic<std::size_t> used_{0};
};

/// One connection's share. Few bytes are free: they are bounded by the number of connections, and
/// nobody waits for them.
class BufferedBytes {
 public:
  static constexpr std::size_t kFree = 128 << 10;
  using Clock = std::chrono::steady_clock;

  explicit BufferedBytes(BufferLimit& limit) : limit_(limit) {}
  ~BufferedBytes() { limit_.give_back(taken_); }
  BufferedBytes(const BufferedBytes&) = delete;
  BufferedBytes& operator=(const BufferedBytes&) = delete;

  /// The connection holds `bytes` now: its room is others', if it needs none for so many.
  void let_go(std::size_t bytes) {
    if (bytes > kFree) return;
    limit_.give_back(taken_);
    taken_ = 0;
  }

  /// The connection holds `bytes` now, and `at_most` of this request, for which it takes room as
  /// soon as they are more than kFree: two that each have a part and wait for more would wait for
  /// each other. Waits until there is room, and reads nothing meanwhile; false: there was none
  /// until the deadline.
  boost::asio::awaitable<bool> hold(std::size_t bytes, std::size_t at_most,
                                    Clock::time_point deadline) {
    namespace asio = boost::asio;
    let_go(bytes);
    if (bytes <= kFree || taken_ > 0) co_return true;
    while (!limit_.take(at_most)) {
      if (Clock::now() >= deadline) co_return false;
      asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(20));
      co_await timer.async_wait(asio::use_awaitable);
    }
    taken_ = at_most;
    co_return true;
  }

 private:
  BufferLimit& limit_;
  std::size_t taken_ = 0;
};

}  // namespace leveret::daemon
