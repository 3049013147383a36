/// Work of several threads whose results are used in order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace leveret::store {

/// For i = 0 … count - 1: fetch(i) one after another, in order; work(i, fetched) in any order on up
/// to `threads` threads; take(i, result) in order, on the thread that calls. At most two results a
/// thread wait to be taken. The first exception of any of the three ends it and is thrown.
template <class Fetch, class Work, class Take>
void in_order(std::size_t count, unsigned threads, Fetch fetch, Work work, Take take) {
  using Result = decltype(work(std::size_t{}, fetch(std::size_t{})));
  if (threads <= 1 || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) take(i, work(i, fetch(i)));
    return;
  }
  struct Slot {
    std::optional<Result> result;
    std::exception_ptr error;
  };
  std::mutex fetching, mutex;
  std::condition_variable changed;
  std::vector<Slot> slots(2 * std::size_t{threads});
  std::size_t fetched = 0, taken = 0;
  bool stop = false;

  const auto run_one = [&]() -> bool {
    Slot slot;
    std::size_t i = 0;
    try {
      std::unique_lock turn(fetching);
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || fetched < taken + slots.size(); });
        if (stop || fetched == count) return false;
        i = fetched++;
      }
      auto input = fetch(i);
      turn.unlock();
      slot.result.emplace(work(i, std::move(input)));
    } catch (...) {
      slot.error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    slots[i % slots.size()] = std::move(slot);
    changed.notify_all();
    return true;
  };
  std::vector<std::thread> team;
  const auto end = [&] {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    for (std::thread& thread : team) thread.join();
  };
  try {
    for (unsigned t = 0; t < std::min<std::size_t>(threads, count); ++t) {
      team.emplace_back([&] {
        while (run_one()) {
        }
      });
    }
    for (std::size_t i = 0; i < count; ++i) {
      Slot slot;
      {
        std::unique_lock lock(mutex);
        Slot& next = slots[i % slots.size()];
        changed.wait(lock, [&] { return next.result || next.error; });
        slot = std::move(next);
        next = {};
      }
      if (slot.error) std::rethrow_exception(slot.error);
      take(i, std::move(*slot.result));
      const std::lock_guard lock(mutex);
      ++taken;
      changed.notify_all();
    }
  } catch (...) {
    end();
    throw;
  }
  end();
}

}  // namespace leveret::store
