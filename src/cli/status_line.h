/// The last line of a terminal during a run over an input: a bar, rate and time left where its size
/// is known, else rate and time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "metrics/progress.h"
#include "stream/example_source.h"

namespace leveret::cli {

/// One caller at a time.
class StatusLine {
 public:
  /// Time counts from here. Without a terminal on stderr, or where it is not `wanted`, all of this
  /// does nothing.
  explicit StatusLine(bool wanted, unsigned passes = 1);
  ~StatusLine();  ///< the line goes however the run ends
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// The source lives until the end of the pass.
  void begin_pass(const stream::ExampleSource& source);
  /// So many examples are through, of all passes.
  void show(std::uint64_t examples);

  double seconds() const;

 private:
  std::optional<metrics::ProgressBar> bar_;
  const stream::ExampleSource* source_ = nullptr;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace leveret::cli
