#include "train/shape_mutex.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace leveret::train {
namespace {

TEST_CASE("who needs the shape alone is let in by those who share it all the time", "[threads]") {
  ShapeMutex mutex;
  std::uint64_t shape = 0;
  std::atomic<bool> done = false;
  std::atomic<unsigned> changes_seen = 0;
  std::vector<std::thread> sharers;
  for (int i = 0; i < 3; ++i) {
    sharers.emplace_back([&] {
      while (!done) {
        const std::shared_lock lock(mutex);
        const std::uint64_t before = shape;
        while (!done && !mutex.wanted()) std::this_thread::yield();
        if (shape != before) ++changes_seen;
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const std::unique_lock lock(mutex);
    ++shape;
  }
  done = true;
  for (std::thread& sharer : sharers) sharer.join();
  CHECK(shape == 200);
  CHECK(changes_seen == 0);
}

}  // namespace
}  // namespace leveret::train
