#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>

#include "stream/queue.h"

using leveret::stream::BoundedQueue;

namespace {

/// Pushes items of these sizes; how many bytes were in the queue at most, counted from outside.
std::size_t most_bytes(std::size_t slots, std::size_t max_bytes, const std::vector<int>& sizes) {
  BoundedQueue<int> queue(slots, max_bytes);
  std::atomic<std::size_t> pushed{0};
  std::thread producer([&] {
    for (int size : sizes) {
      const auto bytes = static_cast<std::size_t>(size);
      queue.push(size, bytes);
      pushed += bytes;
    }
    queue.close();
  });
  std::size_t popped = 0, most = 0;
  int item = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    // Time for the producer to do what it must not.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    most = std::max(most, pushed - popped);
    REQUIRE(queue.pop(item));
    CHECK(item == sizes[i]);
    popped += static_cast<std::size_t>(item);
  }
  CHECK_FALSE(queue.pop(item));
  producer.join();
  return most;
}

}  // namespace

TEST_CASE("a queue holds as many items as it has slots") {
  CHECK(most_bytes(3, ~std::size_t{0}, {1, 1, 1, 1, 1, 1, 1}) == 3);
}

TEST_CASE("a queue holds no more bytes than it may, but one item of any size") {
  CHECK(most_bytes(8, 10, {3, 3, 3, 3, 3, 3, 3}) == 9);
  CHECK(most_bytes(8, 10, {5, 5, 5, 5}) == 10);
  CHECK(most_bytes(8, 10, {100, 200, 300}) == 300);
  CHECK(most_bytes(8, 10, {1, 100, 1, 100, 1}) == 100);
  CHECK(most_bytes(8, 10, {0, 0, 0, 0}) == 0);
}

TEST_CASE("an error comes after the items that were pushed before it") {
  BoundedQueue<int> queue(4);
  int item = 7;
  queue.push(item);
  queue.fail(std::make_exception_ptr(std::runtime_error("broken")));
  CHECK(queue.pop(item));
  CHECK_THROWS_WITH(queue.pop(item), "broken");
  CHECK_THROWS_WITH(queue.pop(item), "broken");
}

TEST_CASE("a producer that waits for bytes ends when the consumers are gone") {
  BoundedQueue<int> queue(4, 10);
  int item = 1;
  CHECK(queue.push(item, 10));
  std::thread producer([&] {
    int more = 2;
    CHECK_FALSE(queue.push(more, 10));
  });
  queue.cancel();
  producer.join();
}
