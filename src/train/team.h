/// Threads that do one work together, and end together.
#pragma once

#include <exception>
#include <functional>

namespace leveret::train {

/// Calls work(i) for i = 0 … threads - 1, each in a thread of its own, and returns when all have
/// returned: null, or the first error. When a work throws, or a thread cannot be started, stop() is
/// called, on whichever thread: it makes the works that run return soon.
std::exception_ptr run_team(unsigned threads, const std::function<void(unsigned)>& work,
                            const std::function<void()>& stop);

}  // namespace leveret::train
