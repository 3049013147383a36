#include "cli/score/predict_run.h"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "cli/console.h"
#include "cli/score/results.h"
#include "cli/score/served_model.h"
#include "cli/signals.h"
#include "feature/unmatched.h"
#include "kernels/dispatch.h"
#include "predict/context_predictor.h"
#include "predict/predictor.h"
#include "predict/request_lines.h"
#include "stream/bad_lines.h"
#include "stream/text_reader.h"
#include "train/team.h"

namespace leveret::cli {
namespace {

class PredictRun {
 public:
  explicit PredictRun(const PredictOptions& options)
      : options_(options),
        served_(options.model, options.mmap),
        parser_(parser_options(served_.get()->spec(), options.input,
                               served_.get()->features().plans())) {
    results_ = open_results(options.results, options.threads);
    parser_.shared_label = options.context_lines;
    // A cache that is made here keeps the names of all namespaces.
    if (options.input.cache.empty()) served_.get()->features().close_names(names_);
  }

  void run() {
    if (!options_.input.quiet) say_unmatched();
    tally_ = bad_line_tally(options_.input);
    // Threads parse for themselves, unless it takes the lines before a chunk to know what it is.
    threads_parse_ =
        options_.threads > 1 && options_.input.cache.empty() && !options_.context_lines;
    source_ = threads_parse_ ? open_lines(options_.input, 2 * options_.threads)
                             : open_examples(options_.input, names_, parser_, *tally_);
    StopOnSignal stop(*source_, StopOnSignal::Then::kEndSoon);
    work_through(*source_, *tally_, {[this] { return answered_; }}, [this] { answer_all(); });
    tally_->finish();
    close(stop);
  }

 private:
  /// A thread, and what it has of its own.
  struct Worker {
    explicit Worker(unsigned worker_number) : number(worker_number) {}

    const unsigned number;
    std::optional<predict::Predictor> plain;
    std::optional<predict::ContextPredictor> by_context;
    std::uint64_t next_chunk = 0;  ///< the one whose first context is the predictor's
  };
  struct Chunk {
    text::ExampleChunk examples;
    predict::RequestChunk requests;
    std::uint64_t number = 0;
  };

  /// A name with a typing error in it would only cost time.
  void say_unmatched() const {
    const auto names =
        feature::unmatched_selectors(options_.context, served_.get()->features().plans());
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
    text::Parser parser(names_, parser_);
    if (options_.context.empty()) {
      worker.plain.emplace(served_.get(), names_, kernels::active());
    } else {
      worker.by_context.emplace(served_.get(), names_, kernels::active(), options_.context);
    }
    Chunk chunk;
    predict::Outcomes outcomes;
    while (next(chunk, worker)) {
      if (threads_parse_) stream::parse_chunk(parser, chunk.examples);
      expect(chunk, thread);
      score(chunk, worker, outcomes);
      report(outcomes, chunk.examples.examples.size(), thread);
    }
    if (worker.by_context) {
      const std::lock_guard lock(mutex_);
      uncached_ += worker.by_context->counts().uncached;
      candidates_ += worker.by_context->counts().candidates;
      too_large_ += worker.by_context->counts().too_large;
      keeps_contexts_ = worker.by_context->keeps_contexts();
    }
  }

  bool next(Chunk& chunk, const Worker& worker) {
    {
      const std::lock_guard lock(next_mutex_);
      if (!source_->next(chunk.examples)) {
        // A source that was stopped may have kept the chunk whose turn it is.
        for (const auto& result : results_) result->answers.stop();
        return false;
      }
      chunk.number = chunks_++;
      if (options_.context_lines) requests_.read(chunk.examples, chunk.requests);
    }
    if (options_.threads == 1) return true;
    for (const auto& result : results_) {
      result->answers.wait_for_room(chunk.examples, worker.number);
    }
    return true;
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
    if (worker.plain) return worker.plain->predict(examples, 0, examples.examples.size(), outcomes);
    predict::ContextPredictor& predictor = *worker.by_context;
    if (!options_.context_lines) {
      return predictor.predict_lines(examples, 0, examples.examples.size(), outcomes);
    }
    for (const predict::RequestChunk::Stretch& stretch : chunk.requests.stretches) {
      if (stretch.has_context) {
        predictor.set_context(examples, stretch.begin - 1);
      } else if (worker.next_chunk != chunk.number) {
        predictor.set_context(chunk.requests.context, 0);
      }
      predictor.predict(examples, stretch.begin, stretch.end - stretch.begin, outcomes);
    }
    worker.next_chunk = chunk.number + 1;
  }

  void report(predict::Outcomes& outcomes, std::size_t examples, unsigned thread) {
    served_.check();
    const std::lock_guard lock(mutex_);
    for (const auto& result : results_) {
      result->answers.add(outcomes, thread);
      result->write();
    }
    answered_ += examples;
    outcomes.clear();
  }

  void close(const StopOnSignal& stop) {
    for (const auto& result : results_) {
      check_whole(*result, stop.stopped());
      if (requests_.is_open()) result->output.write("\n");
      result->output.close();
    }
    if (uncached_ == 0 || options_.input.quiet) return;
    if (too_large_ > 0) {
      say(
          fmt::format("{} of {} candidates are answered by nan: with their context, and with what "
                      "the model makes of both, they have more than {} features",
                      too_large_, candidates_, text::kMaxFeatures));
    }
    say(fmt::format(
        "{} of {} candidates were scored as whole lines: {}", uncached_, candidates_,
        keeps_contexts_
            ? "a field had features of both context and candidate; a field is the context's when "
              "--context names all of its namespaces"
            : "interactions and transforms are made of whole lines"));
  }

  const PredictOptions& options_;
  const ServedModel served_;
  text::ParserOptions parser_;
  text::NamespaceNames names_;
  std::unique_ptr<stream::BadLineTally> tally_;
  std::unique_ptr<stream::ExampleSource> source_;
  bool threads_parse_ = false;

  std::mutex next_mutex_;  ///< guards the order of chunks, and what follows
  std::uint64_t chunks_ = 0;
  predict::RequestLines requests_;

  std::mutex mutex_;  ///< guards what follows
  std::vector<std::unique_ptr<Result>> results_;
  std::uint64_t answered_ = 0, uncached_ = 0, candidates_ = 0, too_large_ = 0;
  bool keeps_contexts_ = true;
};

}  // namespace

void predict_all(const PredictOptions& options) { PredictRun(options).run(); }

}  // namespace leveret::cli
