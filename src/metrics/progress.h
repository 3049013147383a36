/// Progress of a run as text: VW's columns with running AUC and calibration, and a bar for
/// terminals. Makes strings only; the command line prints them. One owner, no locks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/metrics.h"

namespace leveret::metrics {

/// When a line is due, as VW's -P: an integer N adds ("every N examples"), a number with a point
/// multiplies ("1.5": each time the counter has grown by half).
struct ProgressInterval {
  double step = 2.0;
  bool multiply = true;

  /// Throws std::runtime_error saying what is wrong unless N >= 1 or the factor is above 1.
  static ProgressInterval parse(std::string_view text);
};

class Progress {
 public:
  explicit Progress(ProgressInterval interval = {}) : interval_(interval) {
    if (!interval_.multiply) next_ = interval_.step;
  }

  /// Two lines naming the columns, each ended by a newline.
  static std::string header();

  /// Whether the example counter has reached the next line. Cheap: to be asked per example.
  bool due(std::uint64_t examples) const { return static_cast<double>(examples) >= next_; }

  /// The line for the example just learned, newline included; then waits for the next one.
  /// `label` is +1, -1 or 0 (prints "unknown"); `features` counts the constant as VW does.
  std::string line(std::uint64_t examples, const MetricsSnapshot& total, float label,
                   float prediction, std::uint64_t features);

  /// The line after a pass (counted from 1) over what is held out: its loss, marked h as in VW.
  /// `examples` are those learned so far.
  static std::string held_out_line(std::uint64_t examples, const MetricsSnapshot& held_out,
                                   std::uint32_t pass, bool is_best);

 private:
  ProgressInterval interval_;
  double next_ = 1;
  double last_loss_sum_ = 0, last_weight_ = 0;
};

/// The bar for a terminal, one for all passes over an input; where its size is not known, rate and
/// time alone.
class ProgressBar {
 public:
  explicit ProgressBar(unsigned passes = 1) : passes_(passes) {}

  /// The next pass begins, over so many bytes; nothing: nobody knows how many. `seconds` here and
  /// below: from the start of the run.
  void begin_pass(std::optional<std::uint64_t> bytes, double seconds);

  /// At most ten times a second.
  bool due(double seconds) const { return seconds >= next_; }

  /// One line without newline that fits `columns`. `bytes` is the position in the pass's input as
  /// stored (compressed bytes of a compressed file). Passes to come are taken to last as long as
  /// this one.
  std::string render(std::uint64_t bytes, std::uint64_t examples, double seconds, int columns);

 private:
  unsigned passes_;
  unsigned pass_ = 0;  ///< 1 in the first
  std::optional<std::uint64_t> pass_bytes_;
  double pass_began_ = 0;
  double next_ = 0;
};

/// 83 -> "1:23", 3725 -> "1:02:05", a day and more -> "2d 3h".
std::string format_duration(double seconds);

}  // namespace leveret::metrics
