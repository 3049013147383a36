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
#include "train/session.h"

namespace leveret::cli {
namespace {

/// Files, signals and what is told; a session does the work.
class TrainRun final : private train::SessionEvents {
 public:
  explicit TrainRun(const TrainOptions& options)
      : options_(options),
        memory_(options.max_memory > 0 ? options.max_memory : modelfile::default_memory_limit()),
        kernels_(kernels::active()),
        report_(options.report, options.input.passes, options.threads) {
    train::SessionOptions how;
    how.threads = options.threads;
    how.pin = options.pin;
    how.holdout_after = options.holdout_after;
    if (options.deterministic) {
      shards_ = first_shards();
      spec_ = shards_->spec();
      in_shards_.emplace(*shards_, names_);
      session_.emplace(
          *in_shards_,
          [this] { return std::make_shared<model::Model>(dist::gather(*shards_, memory_)); },
          names_, kernels_, how);
    } else {
      auto model = std::make_shared<model::Model>(first_model());
      spec_ = model->spec();
      session_.emplace(std::move(model), names_, kernels_, how);
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
    } catch (const OutputError& error) {
      if (options_.final_model.empty() || saved_) throw;
      throw OutputError(error.what() + not_saved());  // who asked for a model is to hear of it
    }
  }

 private:
  // ---- the model ----

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

  /// None while it lies in shards.
  std::vector<feature::NamespacePlan> known_namespaces() {
    return in_shards_ ? std::vector<feature::NamespacePlan>()
                      : session_->model()->features().plans();
  }

  // ---- passes ----

  void open_outputs() {
    // A model that cannot be saved is known now, not after hours of learning.
    if (!options_.final_model.empty()) files::try_save(options_.final_model);
    report_.open_predictions();
  }

  void learn_passes(StopOnSignal& stop) {
    for (pass_ = 0; pass_ < options_.input.passes && !stop.stopped(); ++pass_) {
      stop.watch(nullptr);
      if (pass_ > 0) session_->begin_pass();
      open_input();
      report_.begin_pass(*source_);
      stop.watch(source_.get());
      learn_pass();
    }
    if (stop.stopped() && !options_.report.quiet) say(kStopped);
  }

  bool parses_in_threads() const { return options_.threads > 1 && options_.input.cache.empty(); }

  void open_input() {
    parser_ = parser_options(spec_, options_.input, known_namespaces());
    source_ = parses_in_threads()
                  ? open_lines(options_.input, 2 * options_.threads)
                  : open_examples(options_.input, names_, parser_, *tally_, pass_ > 0);
  }

  void learn_pass() {
    const Ending ending{[this] { return report_.examples(); }, [this] { return not_saved(); }};
    work_through(*source_, *tally_, ending, [this] {
      if (options_.threads == 1) {
        session_->learn_all(*source_, *this);
      } else {
        session_->learn_in_threads(
            *source_, parses_in_threads() ? std::optional(parser_) : std::nullopt, *this);
      }
      tally_->finish();
    });
  }

  // ---- what is told ----

  void chunk(const text::ExampleChunk& chunk, std::uint64_t behind, unsigned thread) override {
    if (pass_ == 0) count_lines(*source_, chunk, *tally_);
    train::Answers* const answers = report_.answers();
    if (answers == nullptr) return;
    behind > 0 ? answers->expect_behind(behind, chunk) : answers->expect(chunk, thread);
  }
  void outcomes(predict::Outcomes& outcomes, bool held_out, unsigned thread) override {
    if (held_out) report_.hold_out();
    report_.add(outcomes, tally_->bad(), thread);
  }
  void room_for(const text::ExampleChunk& chunk, unsigned thread) override {
    if (report_.answers() != nullptr) report_.answers()->wait_for_room(chunk, thread);
  }
  void end_waiting() override {
    if (report_.answers() != nullptr) report_.answers()->stop();
  }

  std::string not_saved() const {
    return options_.final_model.empty() ? "" : "; " + options_.final_model + " is not saved";
  }

  void finish() {
    set_status({});
    if (report_.labelled() == 0) {
      throw std::runtime_error(
          fmt::format("no labelled example came: nothing is learned{}", not_saved()));
    }
    const model::Model& model = *session_->model();
    if (!options_.final_model.empty()) modelfile::save_model(model, options_.final_model);
    saved_ = true;
    report_.close(tally_->bad());
    if (!options_.report.quiet) say_raw(train_summary(model, figures()));
    const std::string warning = train_warning(model);
    if (!warning.empty()) say("warning: " + warning);
  }

  RunFigures figures() {
    RunFigures figures = report_.figures(tally_->bad());
    if (spec_.batch_size > 1 && spec_.has_mlp()) figures.gemm = block::openblas().core;
    return figures;
  }

  const TrainOptions& options_;
  text::NamespaceNames names_;
  std::uint64_t memory_;  ///< limit of all tables
  const kernels::Kernels& kernels_;
  model::Spec spec_;
  std::unique_ptr<dist::ShardedModel> shards_;  ///< with --deterministic
  std::optional<dist::LocalLearner> in_shards_;
  std::optional<train::Session> session_;
  std::unique_ptr<stream::BadLineTally> tally_;
  std::unique_ptr<stream::ExampleSource> source_;
  text::ParserOptions parser_;
  TrainReport report_;
  unsigned pass_ = 0;
  bool saved_ = false;
};

}  // namespace

void learn_and_save(const TrainOptions& options) { TrainRun(options).run(); }

}  // namespace leveret::cli
