#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "cli/console.h"
#include "cli/input.h"
#include "cli/spec_flags.h"
#include "cli/verbs.h"
#include "files/atomic_file.h"
#include "kernels/dispatch.h"
#include "train/hogwild.h"
#include "train/learner.h"
#include "train/metrics.h"
#include "train/model_io.h"
#include "train/predictor.h"
#include "train/progress.h"

namespace leveret::cli {
namespace {

struct TrainOptions {
  InputOptions input;
  SpecFlags flags;
  std::string initial_model, final_model, predictions, metrics, progress;
  std::uint64_t window = train::MetricsWindows::kDefaultSize;
  std::uint64_t holdout_after = 0;
  std::uint64_t max_memory = 0;
  unsigned threads = 1;
  unsigned passes = 1;
  bool pin = false;
  bool quiet = false;
};

/// One run of `train`: its parts live here, the passes are in run().
class TrainRun {
 public:
  explicit TrainRun(const TrainOptions& options)
      : options_(options),
        model_(first_model(options)),
        kernels_(kernels::active()),
        learner_(model_, names_, kernels_),
        windows_(options.window),
        progress_(options.progress.empty() ? train::ProgressInterval{}
                                           : train::ProgressInterval::parse(options.progress)),
        start_(std::chrono::steady_clock::now()) {}

  void run() {
    open_outputs();
    tally_ = bad_line_tally(options_.input);
    bool stopped = false;
    for (unsigned pass = 0; pass < options_.passes && !stopped; ++pass) {
      open_input(pass);
      if (pass == 0) begin_progress();
      StopOnSignal stop(*source_);
      learn_all(pass);
      stopped = stop.stopped();
    }
    if (stopped && !options_.quiet) say("stopped by a signal; what was read is learned");
    finish();
  }

 private:
  static model::Model first_model(const TrainOptions& options) {
    const std::uint64_t memory =
        options.max_memory > 0 ? options.max_memory : train::default_memory_limit();
    if (options.initial_model.empty()) return model::Model(options.flags.spec(), memory);
    model::Model model =
        train::load_model(options.initial_model, train::LoadFor::kTraining, memory);
    model.set_spec(options.flags.spec(model.spec(), options.initial_model));
    return model;
  }

  void open_outputs() {
    // A model that cannot be saved is known now, not after hours of learning.
    if (!options_.final_model.empty()) files::AtomicFile(options_.final_model);
    if (!options_.predictions.empty()) predictions_.emplace(options_.predictions);
    if (!options_.metrics.empty()) metrics_.emplace(options_.metrics);
  }

  void open_input(unsigned pass) {
    const text::ParserOptions parser = parser_options(model_.spec(), options_.input);
    if (options_.threads > 1 && options_.input.cache.empty()) {
      source_ = open_lines(options_.input, 2 * options_.threads);
    } else {
      source_ = open_examples(options_.input, names_, parser, *tally_, options_.threads, pass > 0);
    }
  }

  void begin_progress() {
    if (options_.quiet) return;
    if (options_.progress.empty() && stderr_is_terminal() && source_->bytes_total()) {
      bar_.emplace(*source_->bytes_total());
    } else {
      say_raw(train::Progress::header());
    }
  }

  void learn_all(unsigned pass) {
    try {
      if (options_.threads > 1) {
        learn_hogwild(pass);
      } else {
        learn_in_order(pass);
      }
    } catch (...) {
      end_bar();
      say_good(good_examples(*source_, *tally_, examples_), "example", not_saved());
      throw_again(*source_);
    }
    if (pass + 1 == options_.passes) end_bar();
    tally_->finish();
  }

  void learn_in_order(unsigned pass) {
    text::ExampleChunk chunk;
    while (source_->next(chunk)) {
      if (pass == 0) count_lines(*source_, chunk, *tally_);
      learn_chunk(chunk);
      report();
    }
    learner_.finish(outcomes_);
    report();
  }

  void learn_hogwild(unsigned pass) {
    train::HogwildOptions hogwild;
    hogwild.threads = options_.threads;
    hogwild.pin = options_.pin;
    hogwild.parser = parser_options(model_.spec(), options_.input);
    train::Hogwild(model_, names_, kernels_, hogwild)
        .run([&](text::ExampleChunk& chunk) { return source_->next(chunk); },
             [&] { source_->stop(); }, options_.input.cache.empty(),
             [&](const text::ExampleChunk& chunk) {
               if (pass == 0) count_lines(*source_, chunk, *tally_);
             },
             [&](train::Outcomes& outcomes) {
               std::swap(outcomes_, outcomes);
               report();
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

  /// Everything that is told about the outcomes so far; then forgets them.
  void report() {
    for (const train::Outcome& outcome : outcomes_.items) {
      if (predictions_) {
        append_prediction(line_, outcome.probability, outcomes_.tag(outcome));
        predictions_->write(line_);
        line_.clear();
      }
      if (held_out_) holdout_.add(outcome.probability, outcome.label, outcome.importance);
      ++examples_;
      features_ += outcome.features;
      if (!wants_figures()) continue;
      const bool full = windows_.add(outcome.probability, outcome.label, outcome.importance);
      if (full && metrics_) write_window();
      if (!options_.quiet && !bar_ && progress_.due(examples_)) {
        say_raw(progress_.line(examples_, windows_.total(), outcome.label, outcome.probability,
                               outcome.features));
      }
    }
    outcomes_.clear();
    if (predictions_) predictions_->flush();
    if (bar_ && bar_->due(seconds())) {
      say_raw("\r" + bar_->render(source_->bytes_read(), examples_, seconds(), terminal_columns()) +
              "\033[K");
    }
  }

  /// Whether anybody is told what predictions are worth. Histograms are behind it.
  bool wants_figures() const { return !options_.quiet || metrics_.has_value(); }

  void end_bar() {
    if (bar_) say_raw("\r\033[K");
    bar_.reset();
  }

  void write_window() {
    metrics_->write(windows_.close(seconds(), tally_->bad()) + "\n");
    metrics_->flush();
  }

  void finish() {
    if (metrics_ && windows_.pending()) write_window();
    if (metrics_) metrics_->close();
    if (predictions_) predictions_->close();
    if (!options_.final_model.empty()) train::save_model(model_, options_.final_model);
    if (!options_.quiet) say_raw(summary());
  }

  std::string summary() {
    const train::MetricsSnapshot total = windows_.total();
    std::string text = "\n";
    const auto add = [&](const char* name, const std::string& value) {
      text += fmt::format("{:<18}{}\n", name, value);
    };
    add("examples", fmt::format("{}", examples_));
    const auto figure = [](double value, int decimals) {
      return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : std::string("-");
    };
    add("average loss", figure(total.logloss, 6));
    add("auc", figure(total.auc, 4));
    add("ne", figure(total.ne, 4));
    add("calibration", figure(total.calibration, 4));
    if (held_out_) {
      const train::MetricsSnapshot holdout = holdout_.snapshot();
      add("holdout loss", fmt::format("{} over {} examples, auc {}", figure(holdout.logloss, 6),
                                      holdout.examples, figure(holdout.auc, 4)));
    }
    add("features", fmt::format("{}", features_));
    add("fields", fmt::format("{}", model_.features().field_count()));
    const double took = seconds();  // counting weights may look at gigabytes
    add("weights", fmt::format("{}", weight_count()));
    add("bad lines", fmt::format("{}", tally_->bad()));
    if (model_.features().fieldless() > 0) {
      add("fieldless", fmt::format("{} namespaces beyond --max_fields are linear only",
                                   model_.features().fieldless()));
    }
    for (const std::string& source : model_.features().unread()) add("transform", source);
    if (model_.shared_lookups() > 0) {
      add("shared rows",
          fmt::format("{} look-ups, as --max_memory was reached", model_.shared_lookups()));
    }
    if (model_.scalars().dropped_gradients > 0) {
      add("dropped",
          fmt::format("{} gradients that were not finite", model_.scalars().dropped_gradients));
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    add("peak memory", fmt::format("{} MB", usage.ru_maxrss / 1024));
    add("time", fmt::format("{:.2f} s, {:.0f} examples/s, {}", took,
                            static_cast<double>(examples_) / std::max(took, 1e-9), kernels_.name));
    return text;
  }

  std::uint64_t weight_count() const {
    std::uint64_t count = model_.linear().size();
    for (const model::FieldTable& table : model_.fields()) {
      count += table.rows() * table.shape().weights();
    }
    for (const model::Dense& layer : model_.dense()) {
      count += (std::uint64_t{layer.inputs} + 1) * layer.outputs;
    }
    return count;
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  const TrainOptions& options_;
  text::NamespaceNames names_;
  model::Model model_;
  const kernels::Kernels& kernels_;
  train::Learner learner_;
  std::optional<train::Predictor> predictor_;  ///< for what is held out
  std::unique_ptr<stream::BadLineTally> tally_;
  std::unique_ptr<stream::ExampleSource> source_;
  std::optional<Output> predictions_, metrics_;
  train::Outcomes outcomes_;
  train::MetricsWindows windows_;
  train::Metrics holdout_;
  train::Progress progress_;
  std::optional<train::ProgressBar> bar_;
  std::string line_;
  std::uint64_t examples_ = 0, learned_ = 0, features_ = 0;
  bool held_out_ = false;
  std::chrono::steady_clock::time_point start_;
};

int run_train(const TrainOptions& options) {
  if (options.final_model == "-") {
    throw std::runtime_error("-f -: a model is not written to standard output; name a file");
  }
  if (options.passes > 1 && options.input.cache.empty()) {
    throw CLI::ValidationError("--passes needs a cache to read again: give -c FILE");
  }
  if (options.threads > 1 && options.holdout_after > 0) {
    throw CLI::ValidationError("--holdout_after counts examples in order: not with --threads");
  }
  TrainRun(options).run();
  return 0;
}

}  // namespace

void setup_train(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TrainOptions>();
  CLI::App* verb = app.add_subcommand("train", "learn a model; progressive validation on stderr");
  add_input_options(*verb, options->input);
  verb->add_option("-i,--initial_regressor", options->initial_model, "go on with this model")
      ->type_name("MODEL");
  verb->add_option("-f,--final_regressor", options->final_model, "save the model here")
      ->type_name("MODEL");
  verb->add_option("-p,--predictions", options->predictions,
                   "write each example's prediction, made before it was learned")
      ->type_name("FILE");
  verb->add_option("--metrics", options->metrics, "write a JSON line per window")
      ->type_name("FILE");
  verb->add_option("--window", options->window, "examples per window of --metrics")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
  verb->add_option("-P,--progress", options->progress,
                   "a line every N examples, or at every growth by factor X.Y; default 2.0")
      ->type_name("N|X.Y");
  verb->add_option("--holdout_after", options->holdout_after,
                   "learn from the first N examples, only predict the rest")
      ->type_name("N");
  verb->add_option("--max_memory", options->max_memory,
                   "bytes for all tables (K, M, G); then new features share a row; default: three "
                   "quarters of the machine's, at most half of ulimit -v")
      ->type_name("N")
      ->transform(CLI::AsSizeValue(false));
  add_cache_options(*verb, options->input);
  verb->add_option("--passes", options->passes, "read the input N times; needs -c")
      ->type_name("N")
      ->check(CLI::Range(1u, 1000000u))
      ->capture_default_str();
  verb->add_option("--threads", options->threads,
                   "threads that learn together (hogwild); more than 1 is not reproducible")
      ->type_name("N")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  verb->add_flag("--pin", options->pin, "each thread on a processor of its own");
  verb->add_flag("--quiet", options->quiet, "no progress and no summary");
  options->flags.add_to(*verb);
  verb->callback([options, &exit_code] { exit_code = run_train(*options); });
}

}  // namespace leveret::cli
