/// A body in several threads at once.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

namespace leveret::table {

template <class Body>
void in_threads(std::uint32_t count, Body body) {
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < count; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace leveret::table
