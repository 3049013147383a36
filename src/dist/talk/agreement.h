/// Steps that succeed on all ranks or are called off on all of them.
#pragma once

#include <exception>
#include <functional>
#include <stdexcept>

#include "dist/talk/communicator.h"

namespace leveret::dist {

/// Another rank has failed, and says why: nothing is to be said of it here.
struct FailedElsewhere : std::runtime_error {
  explicit FailedElsewhere(int code)
      : std::runtime_error("another rank has failed"), exit_code(code) {}
  int exit_code;
};

/// To be called by all ranks, each with what went wrong with it, if anything did. Returns when
/// nothing has; else throws this rank's error, or FailedElsewhere. After that, nobody waits.
void agree(Communicator& ranks, std::exception_ptr error);

/// Does a step on each rank, then agrees about it.
void together(Communicator& ranks, const std::function<void()>& step);

/// The result that `work` gives to rank 0, which alone calls it, on all ranks. When it throws, so
/// does rank 0, and the others FailedElsewhere with the code that `exit_code` makes of the error.
Bytes from_root(Communicator& ranks, const std::function<Bytes()>& work,
                const std::function<int(std::exception_ptr)>& exit_code);

}  // namespace leveret::dist
