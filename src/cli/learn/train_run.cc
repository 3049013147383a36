#include "cli/learn/train_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "block/gemm.h"
#include "cli/console.h"
#include "cli/learn/train_report.h"
#include "cli/learn/train_summary.h"
#include "cli/signals.h"
#include "dist/folder/gather.h"
#include "dist/learn/local_learner.h"
#include "files/atomic_file.h"
#include "kernels/dispatch.h"
#include "modelfile/model_io.h"
#include "predict/predictor.h"
#include "train/hogwild.h"
#include "train/learner.h"

namespace leveret::cli {
namespace {

/// The parts of a run live here, its passes are in run().
class TrainRun {
 public:
  explicit TrainRun(const TrainOptions& options)
      : options_(options),
        memory_(options.max_memory > 0 ? options.max_memory : modelfile::default_memory_limit()),
        kernels_(kernels::active()),
        report_(options.report, options.input.passes, options.threads) {
    if (options.deterministic) {
      shards_ = first_shards();
      in_shards_.emplace(*shards_, names_);
    } else {
      model_ = std::make_shared<model::Model>(first_model());
      learner_.emplace(*model_, names_, kernels_);
    }
  }

  void run() {
    open_outputs();
    tally_ = bad_line_tally(options_.input);
    report_.begin_progress(options_.final_model.empty());
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
  model::Model first_model() const {
    if (options_.initial_model.empty()) return model::Model(options_.flags.spec(), memory_);
    model::Model model = modelfile::load_model(options_.initial_model, memory_);
    model.set_spec(options_.flags.spec(model.spec(), options_.initial_model));
    return model;
  }

  /// --max_memory is that of all shards together.
  std::unique_ptr<dist::ShardedModel> first_shards() const {
    constexpr std::uint32_t kShards = dist::kDeterministicShards;
    model::Model model = first_model();
    if (model.spec().batch_size == 1) {
      throw std::runtime_error(
          "--deterministic is about batches: give --batch_size, of more than 1");
    }
    model.set_spec(in_shards(options_.flags, model.spec()));
    return dist::split(model, kShards, 0, kShards, memory_ / kShards, kernels_);
  }

  std::vector<feature::NamespacePlan> known_namespaces() const {
    return model_ ? model_->features().plans() : std::vector<feature::NamespacePlan>();
  }
  const model::Spec& spec() const { return model_ ? model_->spec() : shards_->spec(); }

  /// All of what has been learned. After this nothing more is.
  const std::shared_ptr<model::Model>& whole() {
    if (!model_) model_ = std::make_shared<model::Model>(dist::gather(*shards_, memory_));
    return model_;
  }

  void finish_learning() {
    in_shards_ ? in_shards_->finish(outcomes_) : learner_->finish(outcomes_);
    report();
  }

  void learn_passes(StopOnSignal& stop) {
    for (unsigned pass = 0; pass < options_.input.passes && !stop.stopped(); ++pass) {
      stop.watch(nullptr);
      open_input(pass);
      report_.begin_pass(*source_);
      stop.watch(source_.get());
      learn_all(pass);
    }
    if (stop.stopped() && !options_.report.quiet) say(kStopped);
  }

  void open_outputs() {
    // A model that cannot be saved is known now, not after hours of learning.
    if (!options_.final_model.empty()) files::try_save(options_.final_model);
    report_.open_predictions();
  }

  void open_input(unsigned pass) {
    const text::ParserOptions parser = parser_options(spec(), options_.input, known_namespaces());
    if (options_.threads > 1 && options_.input.cache.empty()) {
      source_ = open_lines(options_.input, 2 * options_.threads);
    } else {
      source_ = open_examples(options_.input, names_, parser, *tally_, options_.threads, pass > 0);
    }
  }

  void learn_all(unsigned pass) {
    try {
      if (options_.threads > 1) {
        learn_hogwild(pass);
      } else {
        learn_in_order(pass);
      }
      tally_->finish();
    } catch (const ReaderGone&) {
      throw;
    } catch (...) {
      say_good(good_examples(*source_, *tally_, report_.examples()), "example", not_saved());
      throw_again(*source_);
    }
  }

  void learn_in_order(unsigned pass) {
    text::ExampleChunk chunk;
    while (source_->next(chunk)) {
      begin_chunk(chunk, pass);
      learn_chunk(chunk);
      report();
    }
    finish_learning();
  }

  void begin_chunk(const text::ExampleChunk& chunk, unsigned pass, unsigned thread = 0) {
    if (pass == 0) count_lines(*source_, chunk, *tally_);
    if (report_.answers() != nullptr) report_.answers()->expect(chunk, thread);
  }

  void learn_hogwild(unsigned pass) {
    train::Answers* const answers = report_.answers();
    train::HogwildOptions hogwild;
    hogwild.threads = options_.threads;
    hogwild.pin = options_.pin;
    hogwild.parser = parser_options(spec(), options_.input, known_namespaces());
    train::Hogwild(*model_, names_, kernels_, hogwild)
        .run(
            [&](text::ExampleChunk& chunk, unsigned thread) {
              if (source_->next(chunk)) {
                if (answers != nullptr) answers->wait_for_room(chunk, thread);
                return true;
              }
              // A source that was stopped may have kept the chunk whose turn it is.
              if (answers != nullptr) answers->stop();
              return false;
            },
            [&] {
              source_->stop();
              if (answers != nullptr) answers->stop();
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
    in_shards_ ? in_shards_->learn(chunk, 0, count, outcomes_)
               : learner_->learn(chunk, 0, count, outcomes_);
    learned_ += count;
    if (count == chunk.examples.size()) return;
    finish_learning();
    if (!predictor_) predictor_.emplace(whole(), names_, kernels_);
    predictor_->predict(chunk, count, chunk.examples.size() - count, outcomes_);
    report_.hold_out();
  }

  void report(unsigned thread = 0) { report_.add(outcomes_, tally_->bad(), thread); }

  void finish() {
    set_status({});
    if (report_.labelled() == 0) {
      throw std::runtime_error(
          fmt::format("no labelled example came: nothing is learned{}", not_saved()));
    }
    const model::Model& model = *whole();
    if (!options_.final_model.empty()) modelfile::save_model(model, options_.final_model);
    saved_ = true;
    report_.close(tally_->bad());
    if (!options_.report.quiet) say_raw(train_summary(model, figures()));
    const std::string warning = train_warning(model);
    if (!warning.empty()) say("warning: " + warning);
  }

  RunFigures figures() {
    RunFigures figures = report_.figures(tally_->bad());
    if (may_use_gemm()) figures.gemm = block::openblas().core;
    return figures;
  }

  bool may_use_gemm() const { return spec().batch_size > 1 && spec().has_mlp(); }

  const TrainOptions& options_;
  text::NamespaceNames names_;
  std::uint64_t memory_;  ///< limit of all tables
  const kernels::Kernels& kernels_;
  std::shared_ptr<model::Model> model_;  ///< null while it lies in shards
  std::optional<train::Learner> learner_;
  std::unique_ptr<dist::ShardedModel> shards_;  ///< with --deterministic
  std::optional<dist::LocalLearner> in_shards_;
  std::optional<predict::Predictor> predictor_;  ///< for what is held out
  std::unique_ptr<stream::BadLineTally> tally_;
  std::unique_ptr<stream::ExampleSource> source_;
  predict::Outcomes outcomes_;
  TrainReport report_;
  std::uint64_t learned_ = 0;
  bool saved_ = false;
};

}  // namespace

void learn_and_save(const TrainOptions& options) { TrainRun(options).run(); }

}  // namespace leveret::cli
