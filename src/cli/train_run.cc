#include "cli/train_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "block/gemm.h"
#include "cli/console.h"
#include "cli/train_summary.h"
#include "files/atomic_file.h"
#include "kernels/dispatch.h"
#include "modelfile/model_io.h"
#include "predict/predictor.h"
#include "train/answers.h"
#include "train/hogwild.h"
#include "train/learner.h"

namespace leveret::cli {
namespace {

/// The status line of the terminal, gone with it however the run ends.
class StatusLine {
 public:
  StatusLine() = default;
  ~StatusLine() { set_status({}); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
};

/// The parts of a run live here, its passes are in run().
class TrainRun {
 public:
  explicit TrainRun(const TrainOptions& options)
      : options_(options),
        model_(std::make_shared<model::Model>(first_model(options))),
        kernels_(kernels::active()),
        learner_(*model_, names_, kernels_),
        windows_(options.window),
        progress_(options.progress),
        start_(std::chrono::steady_clock::now()) {}

  void run() {
    open_outputs();
    tally_ = bad_line_tally(options_.input);
    if (!options_.quiet) begin_progress();
    StopOnSignal stop;
    try {
      learn_passes(stop);
      finish();
    } catch (const ReaderGone& gone) {
      if (options_.final_model.empty() || saved_) throw;
      throw OutputError(gone.what() + not_saved());  // who asked for a model is to hear of it
    }
  }

 private:
  static model::Model first_model(const TrainOptions& options) {
    const std::uint64_t memory =
        options.max_memory > 0 ? options.max_memory : modelfile::default_memory_limit();
    if (options.initial_model.empty()) return model::Model(options.flags.spec(), memory);
    model::Model model = modelfile::load_model(options.initial_model, memory);
    model.set_spec(options.flags.spec(model.spec(), options.initial_model));
    return model;
  }

  void learn_passes(StopOnSignal& stop) {
    for (unsigned pass = 0; pass < options_.passes && !stop.stopped(); ++pass) {
      stop.watch(nullptr);
      open_input(pass);
      // Windows are seen as they come: not before there is something to learn from.
      if (pass == 0 && !options_.metrics.empty()) metrics_.emplace(options_.metrics);
      stop.watch(source_.get());
      learn_all(pass);
    }
    if (stop.stopped() && !options_.quiet) say("stopped by a signal; what was read is learned");
  }

  void open_outputs() {
    // A model that cannot be saved is known now, not after hours of learning.
    if (!options_.final_model.empty()) files::AtomicFile(options_.final_model);
    if (!options_.predictions.empty()) {
      predictions_.emplace(options_.predictions, Output::File::kWhole);
    }
  }

  void open_input(unsigned pass) {
    const text::ParserOptions parser = parser_options(model_->spec(), options_.input);
    if (options_.threads > 1 && options_.input.cache.empty()) {
      source_ = open_lines(options_.input, 2 * options_.threads);
    } else {
      source_ = open_examples(options_.input, names_, parser, *tally_, options_.threads, pass > 0);
    }
    if (bar_) bar_->begin_pass(source_->bytes_total().value_or(0), seconds());
  }

  void begin_progress() {
    if (options_.final_model.empty()) say("without -f the model is dropped at the end");
    say_raw(train::Progress::header());
    if (stderr_is_terminal()) bar_.emplace(options_.passes);
  }

  void learn_all(unsigned pass) {
    if (predictions_) answers_.emplace(options_.threads);
    try {
      if (options_.threads > 1) {
        learn_hogwild(pass);
      } else {
        learn_in_order(pass);
      }
    } catch (const ReaderGone&) {
      throw;
    } catch (...) {
      say_good(good_examples(*source_, *tally_, examples_), "example", not_saved());
      throw_again(*source_);
    }
    tally_->finish();
  }

  void learn_in_order(unsigned pass) {
    text::ExampleChunk chunk;
    while (source_->next(chunk)) {
      begin_chunk(chunk, pass);
      learn_chunk(chunk);
      report();
    }
    learner_.finish(outcomes_);
    report();
  }

  void begin_chunk(const text::ExampleChunk& chunk, unsigned pass, unsigned thread = 0) {
    if (pass == 0) count_lines(*source_, chunk, *tally_);
    if (answers_) answers_->expect(chunk, thread);
  }

  void learn_hogwild(unsigned pass) {
    train::HogwildOptions hogwild;
    hogwild.threads = options_.threads;
    hogwild.pin = options_.pin;
    hogwild.parser = parser_options(model_->spec(), options_.input);
    train::Hogwild(*model_, names_, kernels_, hogwild)
        .run(
            [&](text::ExampleChunk& chunk, unsigned thread) {
              if (source_->next(chunk)) {
                if (answers_) answers_->wait_for_room(chunk, thread);
                return true;
              }
              // A source that was stopped may have kept the chunk whose turn it is.
              if (answers_) answers_->stop();
              return false;
            },
            [&] {
              source_->stop();
              if (answers_) answers_->stop();
            },
            options_.input.cache.empty(),
            [&](const text::ExampleChunk& chunk, unsigned thread) {
              begin_chunk(chunk, pass, thread);
            },
            [&](predict::Outcomes& outcomes, unsigned thread) {
              std::swap(outcomes_, outcomes);
              report(thread);
            });
  }

  std::string not_saved() const {
    return options_.final_model.empty() ? "" : "; " + options_.final_model + " is not saved";
  }

  void learn_chunk(const text::ExampleChunk& chunk) {
    std::size_t count = chunk.examples.size();
    if (options_.holdout_after > 0) {
      count = std::min<std::uint64_t>(
          count, options_.holdout_after - std::min(learned_, options_.holdout_after));
    }
    learner_.learn(chunk, 0, count, outcomes_);
    learned_ += count;
    if (count == chunk.examples.size()) return;
    learner_.finish(outcomes_);
    report();
    if (!predictor_) predictor_.emplace(model_, names_, kernels_);
    predictor_->predict(chunk, count, chunk.examples.size() - count, outcomes_);
    held_out_ = true;
  }

  void write_answers(unsigned thread) {
    answers_->add(outcomes_, thread);
    answers_->take(lines_);
    predictions_->write(lines_);
    predictions_->flush();
    lines_.clear();
  }

  /// Everything that is told about the outcomes so far; then forgets them.
  void report(unsigned thread = 0) {
    if (answers_) write_answers(thread);
    for (const predict::Outcome& outcome : outcomes_.items) {
      if (held_out_) {
        holdout_.add(outcome.probability, outcome.label, outcome.importance);
      } else {
        labelled_ += outcome.label != 0;
      }
      ++examples_;
      features_ += outcome.features;
      if (!wants_figures()) continue;
      const bool full = windows_.add(outcome.probability, outcome.label, outcome.importance);
      if (full && metrics_) write_window();
      if (!options_.quiet && progress_.due(examples_)) {
        say_raw(progress_.line(examples_, windows_.total(), outcome.label, outcome.probability,
                               outcome.features));
      }
    }
    outcomes_.clear();
    show_bar();
  }

  void show_bar() {
    if (!bar_ || !source_->bytes_total() || !bar_->due(seconds())) return;
    set_status(bar_->render(source_->bytes_read(), examples_, seconds(), terminal_columns() - 1));
  }

  /// Whether anybody is told what predictions are worth. Histograms are behind it.
  bool wants_figures() const { return !options_.quiet || metrics_.has_value(); }

  void write_window() {
    metrics_->write(windows_.close(seconds(), tally_->bad()) + "\n");
    metrics_->flush();
  }

  void finish() {
    set_status({});
    if (labelled_ == 0) {
      throw std::runtime_error(
          fmt::format("no labelled example came: nothing is learned{}", not_saved()));
    }
    if (!options_.final_model.empty()) modelfile::save_model(*model_, options_.final_model);
    saved_ = true;
    if (metrics_ && windows_.pending()) write_window();
    if (metrics_) metrics_->close();
    if (predictions_) predictions_->close();
    if (!options_.quiet) say_raw(train_summary(*model_, figures()));
    const std::string warning = train_warning(*model_);
    if (!warning.empty()) say("warning: " + warning);
  }

  RunFigures figures() {
    return {.examples = examples_,
            .features = features_,
            .bad_lines = tally_->bad(),
            .total = windows_.total(),
            .held_out = held_out_ ? std::optional(holdout_.snapshot()) : std::nullopt,
            .seconds = seconds(),
            .kernels = kernels_.name,
            .gemm = may_use_gemm() ? block::openblas().core : nullptr};
  }

  bool may_use_gemm() const { return model_->spec().batch_size > 1 && model_->spec().has_mlp(); }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  const TrainOptions& options_;
  StatusLine status_line_;
  text::NamespaceNames names_;
  const std::shared_ptr<model::Model> model_;
  const kernels::Kernels& kernels_;
  train::Learner learner_;
  std::optional<predict::Predictor> predictor_;  ///< for what is held out
  std::unique_ptr<stream::BadLineTally> tally_;
  std::unique_ptr<stream::ExampleSource> source_;
  std::optional<Output> predictions_, metrics_;
  predict::Outcomes outcomes_;
  train::MetricsWindows windows_;
  train::Metrics holdout_;
  train::Progress progress_;
  std::optional<train::ProgressBar> bar_;
  std::optional<train::Answers> answers_;  ///< of this pass; with -p
  std::string lines_;
  std::uint64_t examples_ = 0, learned_ = 0, features_ = 0;
  std::uint64_t labelled_ = 0;  ///< of those learned from
  bool held_out_ = false;
  bool saved_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace

void learn_and_save(const TrainOptions& options) { TrainRun(options).run(); }

}  // namespace leveret::cli
