#include "cli/learn/train_report.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/dispatch.h"

namespace leveret::cli {

TrainReport::TrainReport(const ReportOptions& options, unsigned passes, unsigned threads)
    : options_(options),
      threads_(threads),
      windows_(options.window),
      progress_(options.progress),
      status_(!options.quiet, passes) {}

void TrainReport::open_predictions() {
  if (!options_.predictions.empty())
    predictions_.emplace(options_.predictions, Output::File::kWhole);
}

void TrainReport::begin_progress(bool dropped, bool later) {
  if (options_.quiet) return;
  if (dropped) say("without -f the model is dropped at the end");
  header_due_ = options_.shows_progress && later;
  if (options_.shows_progress && !later) say_raw(metrics::Progress::header());
}

void TrainReport::begin_pass(const stream::ExampleSource& source) {
  status_.begin_pass(source);
  if (!options_.metrics.empty() && !metrics_) metrics_.emplace(options_.metrics);
  if (predictions_) answers_.emplace(threads_);
}

void TrainReport::add(predict::Outcomes& outcomes, std::uint64_t bad_lines, unsigned thread) {
  if (answers_) write_answers(outcomes, thread);
  for (const predict::Outcome& outcome : outcomes.items) count(outcome, bad_lines);
  outcomes.clear();
  status_.show(examples_);
}

void TrainReport::write_answers(const predict::Outcomes& outcomes, unsigned thread) {
  answers_->add(outcomes, thread);
  answers_->take(lines_);
  predictions_->write(lines_);
  predictions_->flush();
  lines_.clear();
}

void TrainReport::count(const predict::Outcome& outcome, std::uint64_t bad_lines) {
  if (held_out_) {
    holdout_.add(outcome.probability, outcome.label, outcome.importance);
  } else {
    labelled_ += outcome.label != 0;
    clicks_ += outcome.label > 0;
  }
  ++examples_;
  features_ += outcome.features;
  if (!wants_figures()) return;
  const bool full = windows_.add(outcome.probability, outcome.label, outcome.importance);
  if (full && metrics_) write_window(bad_lines);
  if (tells() && options_.shows_progress && progress_.due(examples_)) {
    if (std::exchange(header_due_, false)) say_raw(metrics::Progress::header());
    say_raw(progress_.line(examples_, windows_.total(), outcome.label, outcome.probability,
                           outcome.features));
  }
}

std::string TrainReport::warning() const {
  constexpr std::uint64_t kFew = 20;
  if (labelled_ < kFew || (clicks_ > 0 && clicks_ < labelled_)) return "";
  return fmt::format("all labels are {}: the model learns that alone; check the labels",
                     clicks_ > 0 ? "1" : "-1");
}

void TrainReport::hold_out(std::uint64_t bad_lines) {
  if (!held_out_ && metrics_ && windows_.pending()) write_window(bad_lines);
  held_out_ = true;
}

void TrainReport::begin_further_passes() {
  if (!first_pass_) first_pass_ = windows_.total();
}

void TrainReport::end_pass(std::uint32_t pass, std::uint32_t best_pass,
                           const metrics::MetricsSnapshot& held_out, std::uint64_t bad_lines) {
  if (metrics_) {
    if (windows_.pending()) write_window(bad_lines);
    metrics_->write(metrics::held_out_json(pass, held_out, best_pass) + "\n");
    metrics_->flush();
  }
  if (options_.quiet) return;
  say_raw(metrics::Progress::held_out_line(examples_, held_out, pass, pass == best_pass));
}

void TrainReport::write_window(std::uint64_t bad_lines) {
  std::string line = windows_.close(seconds(), bad_lines);
  if (held_out_) line.insert(line.size() - 1, ",\"held_out\":true");
  if (more_members_) line.insert(line.size() - 1, more_members_());  // before the brace
  metrics_->write(line + "\n");
  metrics_->flush();
}

void TrainReport::close(std::uint64_t bad_lines) {
  if (metrics_ && windows_.pending()) write_window(bad_lines);
  if (metrics_) metrics_->close();
  if (predictions_) predictions_->close();
}

RunFigures TrainReport::figures(std::uint64_t bad_lines) {
  return {.examples = examples_,
          .features = features_,
          .bad_lines = bad_lines,
          .total = first_pass_ ? *first_pass_ : windows_.total(),
          .held_out = held_out_ ? std::optional(holdout_.snapshot()) : std::nullopt,
          .seconds = seconds(),
          .kernels = kernels::active().name};
}

}  // namespace leveret::cli
