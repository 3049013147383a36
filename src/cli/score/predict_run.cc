#include "cli/score/predict_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cli/console.h"
#include "cli/raw_rows.h"
#include "cli/score/results.h"
#include "cli/score/served_model.h"
#include "cli/score/skew_report.h"
#include "cli/signals.h"
#include "cli/status_line.h"
#include "feature/unmatched.h"
#include "kernels/dispatch.h"
#include "predict/context_predictor.h"
#include "predict/predictor.h"
#include "predict/request_lines.h"
#include "publish/watch.h"
#include "serve/served.h"
#include "stream/bad_lines.h"
#include "stream/text_reader.h"
#include "train/team.h"

namespace leveret::cli {
namespace {

/// A model and how lines are parsed for it; the same one until --watch brings another.
struct Version {
  std::shared_ptr<const model::Model> model;
  text::NamespaceNames* names = nullptr;
  text::ParserOptions parser;
  std::shared_ptr<const serve::Served> served;  ///< has the names; null: they are the run's
};

class PredictRun {
 public:
  explicit PredictRun(const PredictOptions& options)
      : options_(options), skew_(options.strict, options.input.quiet) {
    if (options.watch.empty()) {
      served_.emplace(options.model, options.mmap);
      version_ = make_version(served_->get(), names_, nullptr);
      // A cache that is made here keeps the names of all namespaces.
      if (options.input.cache.empty()) served_->get()->features().close_names(names_);
    } else {
      hangup_.emplace();
      place_ = std::make_shared<serve::Place>(options.model);
      take_newest();
    }
    results_ = open_results(options.results, options.threads);
  }

  void run() {
    if (!options_.input.quiet) say_unmatched();
    tally_ = bad_line_tally(options_.input);
    open_source();
    status_.emplace(!options_.input.quiet && !shows_results());
    status_->begin_pass(*source_);
    StopOnSignal stop(*source_, StopOnSignal::Then::kEndSoon);
    if (place_) {
      watch_.emplace(place_, options_.watch, kLookEvery,
                     [this](const serve::Seen& seen) { tell(seen); });
      hangup_->watch(&*watch_);
    }
    work_through(*source_, *tally_, {[this] { return answered_; }}, [this] { answer_all(); });
    tally_->finish();
    status_.reset();
    close(stop);
  }

 private:
  /// A thread, and what it has of its own.
  struct Worker {
    explicit Worker(unsigned worker_number) : number(worker_number) {}

    const unsigned number;
    std::shared_ptr<const Version> version;
    std::optional<text::Parser> parser;  ///< where threads parse
    std::optional<predict::Predictor> plain;
    std::optional<predict::ContextPredictor> by_context;
    std::optional<skew::SkewCounter> skew;
    std::uint64_t next_chunk = 0;  ///< the one whose first context is the predictor's
  };
  struct Chunk {
    text::ExampleChunk examples;
    predict::RequestChunk requests;
    std::uint64_t number = 0;
    std::shared_ptr<const Version> version;  ///< that answers it
  };

  static constexpr std::chrono::milliseconds kLookEvery{1000};

  std::shared_ptr<const Version> make_version(std::shared_ptr<const model::Model> model,
                                              text::NamespaceNames& names,
                                              std::shared_ptr<const serve::Served> served) const {
    auto version = std::make_shared<Version>();
    version->parser = parser_options(model->spec(), options_.input, model->features().plans());
    version->parser.shared_label = options_.context_lines;
    version->model = std::move(model);
    version->names = &names;
    version->served = std::move(served);
    return version;
  }

  void take_newest() {
    time_ = place_->time();
    std::shared_ptr<const serve::Served> served = place_->get();
    if (source_ && !read_rows_on(options_.input, *served->model())) {
      return say(
          "--watch: the new model reads other columns of raw rows; the one before answers "
          "on: begin anew for the new one");
    }
    version_ = make_version(served->model(), served->names(), served);
    request_parser_.reset();
  }

  /// Threads parse for themselves, unless it takes the lines before a chunk to know what it is.
  /// Lines that are parsed ahead would be parsed for an older model.
  void open_source() {
    read_rows_for(options_.input, *version_->model, options_.model + options_.watch,
                  /*needs_label=*/false);
    threads_parse_ =
        (options_.threads > 1 || place_) && options_.input.cache.empty() && !options_.context_lines;
    source_ = threads_parse_ || place_
                  ? open_lines(options_.input, {2 * options_.threads})
                  : open_examples(options_.input, *version_->names, version_->parser, *tally_);
  }

  /// Predictions that go to a terminal show how far the run is.
  bool shows_results() const {
    return options_.results.predictions.empty() && isatty(STDOUT_FILENO) == 1;
  }

  void tell(const serve::Seen& seen) const {
    if (seen.what == serve::Seen::What::kFailed) return say("--watch: " + seen.problem);
    if (!seen.problem.empty()) say("--watch: " + seen.problem);
    if (options_.input.quiet) return;
    const bool told = seen.sequence != modelfile::kNoSequence;
    say(fmt::format("--watch: another model, {}{}, read in {:.3f} s",
                    store::to_hex(seen.fingerprint),
                    told ? fmt::format(" (sequence {})", seen.sequence) : "", seen.seconds));
  }

  /// A name with a typing error in it would only cost time.
  void say_unmatched() const {
    const auto names =
        feature::unmatched_selectors(options_.context, version_->model->features().plans());
    if (names.empty()) return;
    say(stream::escaped(
        fmt::format("--context {}: the model knows no such namespace", fmt::join(names, ","))));
  }

  void answer_all() {
    if (options_.threads == 1) return answer(0);
    const std::exception_ptr error = train::run_team(
        options_.threads, [this](unsigned i) { answer(i); },
        [this] {
          const std::lock_guard lock(mutex_);
          source_->stop();
          for (const auto& result : results_) result->answers.stop();
        });
    if (error) std::rethrow_exception(error);
  }

  void answer(unsigned thread) {
    Worker worker(thread);
    Chunk chunk;
    predict::Outcomes outcomes;
    while (next(chunk, worker)) {
      if (worker.version != chunk.version) move_on(worker, chunk.version);
      if (threads_parse_) stream::parse_chunk(*worker.parser, chunk.examples);
      expect(chunk, thread);
      score(chunk, worker, outcomes);
      report(outcomes, chunk.examples.examples.size(), worker);
    }
    add_counts(worker);
  }

  /// To the model that answers from now on.
  void move_on(Worker& worker, const std::shared_ptr<const Version>& version) {
    add_counts(worker);
    worker.version = version;
    worker.next_chunk = 0;
    if (threads_parse_) worker.parser.emplace(*version->names, version->parser);
    worker.skew.emplace(version->model, *version->names);
    if (options_.context.empty()) {
      worker.plain.emplace(version->model, *version->names, kernels::active());
    } else {
      worker.by_context.emplace(version->model, *version->names, kernels::active(),
                                options_.context);
    }
  }

  void add_counts(Worker& worker) {
    const std::lock_guard lock(mutex_);
    if (worker.skew) skew_.add(*worker.skew);
    if (!worker.by_context) return;
    uncached_ += worker.by_context->counts().uncached;
    candidates_ += worker.by_context->counts().candidates;
    too_large_ += worker.by_context->counts().too_large;
    why_not_cached_ = worker.by_context->why_not_cached();
  }

  bool next(Chunk& chunk, const Worker& worker) {
    {
      const std::lock_guard lock(next_mutex_);
      if (!source_->next(chunk.examples)) {
        // A source that was stopped may have kept the chunk whose turn it is.
        for (const auto& result : results_) result->answers.stop();
        return false;
      }
      chunk.number = ++chunks_;
      // A request is answered by one model.
      if (place_ && place_->time() != time_ && !requests_.is_open()) take_newest();
      chunk.version = version_;
      if (options_.context_lines) read_requests(chunk);
    }
    if (options_.threads == 1) return true;
    for (const auto& result : results_) {
      result->answers.wait_for_room(chunk.examples, worker.number);
    }
    return true;
  }

  void read_requests(Chunk& chunk) {
    if (place_) {
      if (!request_parser_) request_parser_.emplace(*version_->names, version_->parser);
      stream::parse_chunk(*request_parser_, chunk.examples);
    }
    requests_.read(chunk.examples, chunk.requests);
  }

  void expect(Chunk& chunk, unsigned thread) {
    const std::lock_guard lock(mutex_);
    count_lines(*source_, chunk.examples, *tally_);
    for (const auto& result : results_) {
      if (options_.context_lines) {
        result->answers.expect(chunk.examples, chunk.requests.answers, thread);
      } else {
        result->answers.expect(chunk.examples, thread);
      }
    }
  }

  void score(const Chunk& chunk, Worker& worker, predict::Outcomes& outcomes) {
    const text::ExampleChunk& examples = chunk.examples;
    const std::size_t size = examples.examples.size();
    if (!options_.context_lines) {
      if (worker.plain) return worker.plain->predict(examples, 0, size, outcomes, &*worker.skew);
      return worker.by_context->predict_lines(examples, 0, size, outcomes, &*worker.skew);
    }
    predict::ContextPredictor& predictor = *worker.by_context;
    for (const predict::RequestChunk::Stretch& stretch : chunk.requests.stretches) {
      if (stretch.has_context) {
        predictor.set_context(examples, stretch.begin - 1);
      } else if (worker.next_chunk != chunk.number) {
        predictor.set_context(chunk.requests.context, 0);
      }
      const std::size_t candidates = stretch.end - stretch.begin;
      predictor.predict(examples, stretch.begin, candidates, outcomes, &*worker.skew);
    }
    worker.next_chunk = chunk.number + 1;
  }

  void report(predict::Outcomes& outcomes, std::size_t examples, Worker& worker) {
    if (served_) served_->check();
    const std::lock_guard lock(mutex_);
    for (const auto& result : results_) {
      result->answers.add(outcomes, worker.number);
      result->write();
    }
    skew_.tell(*worker.skew);
    answered_ += examples;
    status_->show(answered_);
    outcomes.clear();
  }

  void close(const StopOnSignal& stop) {
    for (const auto& result : results_) {
      check_whole(*result, stop.stopped());
      if (requests_.is_open()) result->output.write("\n");
      result->output.close();
    }
    tell_uncached();
    skew_.check();
  }

  void tell_uncached() const {
    if (uncached_ == 0 || options_.input.quiet) return;
    if (too_large_ > 0) {
      say(
          fmt::format("{} of {} candidates get nan: they have more than {} features, with those of "
                      "the context and those that --interactions and --transform add",
                      too_large_, candidates_, text::kMaxFeatures));
    }
    say(fmt::format(
        "{} of {} candidates were scored as whole lines: {}", uncached_, candidates_,
        why_not_cached_.empty()
            ? "a field had features of both context and candidate; a field is the context's when "
              "--context names all of its namespaces"
            : why_not_cached_));
  }

  const PredictOptions& options_;
  std::optional<ServedModel> served_;    ///< without --watch
  std::shared_ptr<serve::Place> place_;  ///< with it, as the next two are
  std::optional<publish::WatchThread> watch_;
  std::optional<LookOnHangup> hangup_;  // behind what it asks: it goes first
  text::NamespaceNames names_;          ///< without it
  std::unique_ptr<stream::BadLineTally> tally_;
  std::unique_ptr<stream::ExampleSource> source_;
  bool threads_parse_ = false;

  std::mutex next_mutex_;  ///< guards the order of chunks, and what follows
  std::uint64_t chunks_ = 0;
  std::shared_ptr<const Version> version_;      ///< of the next chunk
  std::uint64_t time_ = 0;                      ///< of the place when it had it
  std::optional<text::Parser> request_parser_;  ///< of contexts and candidates, with --watch
  predict::RequestLines requests_;

  std::mutex mutex_;  ///< guards what follows
  std::vector<std::unique_ptr<Result>> results_;
  std::uint64_t answered_ = 0, uncached_ = 0, candidates_ = 0, too_large_ = 0;
  std::string why_not_cached_;  ///< contexts
  SkewReport skew_;
  std::optional<StatusLine> status_;  ///< behind what it shows: it goes first
};

}  // namespace

void predict_all(const PredictOptions& options) { PredictRun(options).run(); }

}  // namespace leveret::cli
