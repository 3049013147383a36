/// Work of several threads whose results are used in order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace leveret::patch {

/// Calls fetch() until it gives nothing, one call after another; work(fetched) for each, in any
/// order on `threads` threads; take(result) in the order of fetching, on the thread that calls. At
/// most two results a thread wait to be taken. The first exception of any of the three ends it and
/// is thrown.
template <class Fetch, class Work, class Take>
void in_order(unsigned threads, Fetch fetch, Work work, Take take) {
  using Result = decltype(work(std::move(*fetch())));
  if (threads <= 1) {
    while (auto input = fetch()) take(work(std::move(*input)));
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
  bool at_end = false, stop = false;

  const auto run_one = [&]() -> bool {
    Slot slot;
    std::size_t number = 0;
    bool is_last = false;
    try {
      std::unique_lock turn(fetching);
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || at_end || fetched < taken + slots.size(); });
        if (stop || at_end) return false;
        number = fetched++;
      }
      if (auto input = fetch()) {
        turn.unlock();
        slot.result.emplace(work(std::move(*input)));
      } else {
        is_last = true;
        const std::lock_guard lock(mutex);
        --fetched;
        at_end = true;
      }
    } catch (...) {
      slot.error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    if (!is_last) slots[number % slots.size()] = std::move(slot);
    changed.notify_all();
    return !is_last;
  };
  const auto next = [&]() -> std::optional<Slot> {
    std::unique_lock lock(mutex);
    Slot& slot = slots[taken % slots.size()];
    changed.wait(lock, [&] { return slot.result || slot.error || (at_end && taken == fetched); });
    if (!slot.result && !slot.error) return std::nullopt;
    return std::exchange(slot, {});
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
    for (unsigned t = 0; t < threads; ++t) {
      team.emplace_back([&] {
        while (run_one()) {
        }
      });
    }
    while (std::optional<Slot> slot = next()) {
      if (slot->error) std::rethrow_exception(slot->error);
      take(std::move(*slot->result));
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

/// Calls work(i) for i = 0 … count - 1, in any order on up to `threads` threads, and take(i,
/// result) in order.
template <class Work, class Take>
void for_each_in_order(std::size_t count, unsigned threads, Work work, Take take) {
  std::size_t next = 0, taken = 0;
  in_order(
      static_cast<unsigned>(std::min<std::size_t>(threads, count)),
      [&]() -> std::optional<std::size_t> {
        if (next == count) return std::nullopt;
        return next++;
      },
      [&](std::size_t i) { return work(i); },
      [&](auto&& result) { take(taken++, std::move(result)); });
}

}  // namespace leveret::patch
