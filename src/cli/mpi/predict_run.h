/// One run of `leveret-mpi predict` or `evaluate`, as each of its ranks goes through it.
#pragma once

#include <functional>
#include <string>

#include "cli/input.h"
#include "dist/talk/communicator.h"
#include "predict/outcome.h"

namespace leveret::cli {

/// The user of scores on rank 0, which alone calls these, in this order.
struct ScoreUser {
  /// Once files may be opened.
  std::function<void()> open;
  /// With each chunk, before outcomes of its examples, in the reader's thread.
  std::function<void(const text::ExampleChunk&)> expect;
  /// Outcomes in the order of the input. It may change them.
  std::function<void(predict::Outcomes&)> add;
  /// At the end of the input; `stopped`: by a signal.
  std::function<void(bool stopped)> close;
};

/// Scores the input by a folder of shards, of which each rank has some; nothing is learned. To be
/// called by all ranks with the same options. `check`: on rank 0, of options and files. Errors are
/// exceptions, as of learn_together.
void score_together(InputOptions& input, const std::string& folder, dist::Communicator& ranks,
                    const std::function<void()>& check, const ScoreUser& user);

}  // namespace leveret::cli
