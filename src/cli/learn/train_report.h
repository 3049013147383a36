/// The report of a run of `train` as it goes on: predictions in the order of the input, a JSON line
/// a window, progress, the bar on a terminal, and a summary.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cli/console.h"
#include "cli/learn/report_options.h"
#include "cli/learn/train_summary.h"
#include "cli/status_line.h"
#include "metrics/metrics.h"
#include "metrics/progress.h"
#include "predict/outcome.h"
#include "stream/example_source.h"
#include "train/answers.h"

namespace leveret::cli {

inline constexpr const char* kStopped = "stopped by a signal; what was read is learned";

/// One thread, but for answers(). Files that are not watched appear at close().
class TrainReport {
 public:
  /// Time counts from here. The options outlive it. `threads`: that learn.
  TrainReport(const ReportOptions& options, unsigned passes, unsigned threads);
  TrainReport(const TrainReport&) = delete;
  TrainReport& operator=(const TrainReport&) = delete;

  /// Members that each line of --metrics has beside its own, a comma before each.
  void add_to_windows(std::function<std::string()> members) { more_members_ = std::move(members); }
  /// Opens the file of predictions: a folder that cannot be written is known before anything is
  /// learned.
  void open_predictions();
  /// `dropped`: no model will be saved. `later`: the names of the columns of progress come with its
  /// first line, as other things are told before it.
  void begin_progress(bool dropped, bool later = false);
  /// The source lives until the end of the pass. The file of metrics is opened with the first one:
  /// windows are seen as they come, and not before there is something to learn from.
  void begin_pass(const stream::ExampleSource& source);

  /// The answers of this pass; null without -p.
  train::Answers* answers() { return answers_ ? &*answers_ : nullptr; }

  /// Everything that is told about these outcomes; then forgets them. `bad_lines`: of the run, up
  /// to the last of them.
  void add(predict::Outcomes& outcomes, std::uint64_t bad_lines, unsigned thread = 0);
  /// From now on outcomes are of examples that were learned in a pass before: what they are worth
  /// goes to windows, and is not told.
  void begin_further_passes();
  /// Pass `pass`, counted from 1, is over, and what is held out came out so. Its last window is
  /// closed first.
  void end_pass(std::uint32_t pass, std::uint32_t best_pass,
                const metrics::MetricsSnapshot& held_out, std::uint64_t bad_lines);
  /// From now on outcomes are of examples that are not learned from.
  /// No window has some of both.
  void hold_out(std::uint64_t bad_lines);

  std::uint64_t examples() const { return examples_; }
  /// How many of them were learned from.
  std::uint64_t labelled() const { return labelled_; }
  /// Words about labels that are all alike, from which a new model learns nothing but that; else,
  /// and where there are few, empty.
  std::string warning() const;
  double seconds() const { return status_.seconds(); }

  /// The last window, and the files.
  void close(std::uint64_t bad_lines);
  RunFigures figures(std::uint64_t bad_lines);

 private:
  void write_answers(const predict::Outcomes& outcomes, unsigned thread);
  void count(const predict::Outcome& outcome, std::uint64_t bad_lines);
  void write_window(std::uint64_t bad_lines);
  /// Whether anybody is told what predictions are worth. Histograms are behind it.
  bool wants_figures() const { return (wants_total() && !first_pass_) || metrics_.has_value(); }
  bool wants_total() const { return !options_.quiet || options_.json; }
  bool tells() const { return !options_.quiet && !first_pass_; }

  const ReportOptions& options_;
  const unsigned threads_;
  std::optional<Output> predictions_, metrics_;
  std::function<std::string()> more_members_;
  metrics::MetricsWindows windows_;
  metrics::Metrics holdout_;
  metrics::Progress progress_;
  StatusLine status_;
  std::optional<train::Answers> answers_;
  std::string lines_;
  std::uint64_t examples_ = 0, features_ = 0, labelled_ = 0, clicks_ = 0;
  bool held_out_ = false, header_due_ = false;
  std::optional<metrics::MetricsSnapshot> first_pass_;  ///< what was told, when it ended
};

}  // namespace leveret::cli
