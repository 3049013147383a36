#include "train/team.h"

#include <fmt/format.h>

#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace leveret::train {

std::exception_ptr run_team(unsigned threads, const std::function<void(unsigned)>& work,
                            const std::function<void()>& stop) {
  std::mutex mutex;
  std::exception_ptr first;
  const auto fail = [&](std::exception_ptr error) {
    {
      const std::lock_guard lock(mutex);
      if (!first) first = std::move(error);
    }
    stop();
  };
  std::vector<std::thread> team;
  try {
    team.reserve(threads);
    for (unsigned i = 0; i < threads; ++i) {
      team.emplace_back([&, i] {
        try {
          work(i);
        } catch (...) {
          fail(std::current_exception());
        }
      });
    }
  } catch (const std::system_error& error) {
    fail(std::make_exception_ptr(std::runtime_error(
        fmt::format("cannot start thread {} of {}: {}; use fewer --threads, or raise the limit "
                    "(ulimit -u, ulimit -v)",
                    team.size() + 1, threads, error.code().message()))));
  } catch (...) {
    fail(std::current_exception());
  }
  for (std::thread& thread : team) thread.join();
  return first;
}

}  // namespace leveret::train
