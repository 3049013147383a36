#include "cli/mpi/train_run.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "block/dense/gemm.h"
#include "cli/console.h"
#include "cli/file_uses.h"
#include "cli/learn/train_report.h"
#include "cli/mpi/rank_model.h"
#include "cli/mpi/start.h"
#include "cli/mpi/summary.h"
#include "cli/mpi/traffic.h"
#include "cli/signals.h"
#include "dist/learn/batch_reader.h"
#include "dist/learn/batch_rounds.h"
#include "dist/talk/agreement.h"

namespace leveret::cli {
namespace {

using dist::BatchFlags;

/// The objects that rank 0 has beside a rank's part: the input, and everything that is told.
struct Reading {
  Reading(const MpiTrainOptions& options, const RankModel& model)
      : tally(bad_line_tally(options.input)),
        report(options.report, options.input.passes, 1),
        plan(model.plan()),
        maker(model.common().spec(), model.common().features().plans(), plan.fields(), names,
              dist::LearnedSoFar::of(model.common())) {}

  text::NamespaceNames names;
  std::unique_ptr<stream::BadLineTally> tally;
  std::unique_ptr<stream::ExampleSource> source;
  TrainReport report;
  dist::Plan plan;
  dist::BatchMaker maker;
};

class MpiTrainRun {
 public:
  MpiTrainRun(MpiTrainOptions& options, dist::Communicator& ranks)
      : options_(options), ranks_(ranks), rounds_(ranks), start_(start_training(options, ranks)) {
    dist::together(ranks_, [&] {
      model_ = first_model(options_, start_, ranks_);
      if (!ranks_.is_root()) return;
      if (start_.position) position_ = *start_.position;
      position_.data = options_.input.data;
      position_.ended = false;
      first_pass_ = position_.pass;
      reading_.emplace(options_, *model_);
      reading_->report.open_predictions();
      reading_->report.begin_progress(options_.final_model.empty());
      traffic_.emplace(ranks_);
      reading_->report.add_to_windows([this] { return traffic_->take_json(); });
    });
  }

  void run() {
    StopOnSignal stop;
    if (ranks_.is_root()) {
      rounds_.lead([&] { lead(stop); });
    } else {
      rounds_.follow([&](dist::BatchMessage& message, std::exception_ptr error) {
        learn(message.growth, message.parts, message.examples, error, stop);
        save_if_due(message.examples, message.ends_stretch);
      });
    }
    finish(stop);
  }

 private:
  // ---- rank 0 ----

  void lead(StopOnSignal& stop) {
    const train::InputPosition start = position_;
    for (unsigned pass = start.pass; pass < options_.input.passes && !is_stopped(stop); ++pass) {
      stop.watch(nullptr);
      open_input(pass > start.pass);
      stop.watch(reading_->source.get());
      if (pass > start.pass) begin_pass(pass);
      try {
        learn_pass(stop);
      } catch (const dist::FailedElsewhere&) {
        if (saved_at_ > 0) say(not_saved().substr(2));
        throw;
      }
    }
    position_.ended = !is_stopped(stop);
  }

  void open_input(bool again) {
    Reading& in = *reading_;
    in.source =
        open_examples(options_.input, in.names,
                      parser_options(model_->common().spec(), options_.input), *in.tally, again);
    in.report.begin_pass(*in.source);
  }

  void begin_pass(std::uint32_t pass) {
    position_.pass = pass;
    position_.examples = 0;
    position_.checksum.clear();
  }

  void learn_pass(StopOnSignal& stop) {
    Reading& in = *reading_;
    const bool first = position_.pass == first_pass_;
    const Ending ending{[&] { return in.report.examples(); }, [this] { return not_saved(); }};
    work_through(*in.source, *in.tally, ending, [&] {
      dist::BatchReader reader(*in.source, in.maker, in.plan, model_->split(), ranks_.size(),
                               position_,
                               [&, first](const text::ExampleChunk& chunk, std::uint64_t behind) {
                                 if (first) count_lines(*in.source, chunk, *in.tally);
                                 if (in.report.answers() != nullptr) {
                                   in.report.answers()->expect_behind(behind, chunk);
                                 }
                                 return in.tally->bad();
                               });
      while (reader.next(batch_) && !leaves_rest(stop)) lead_batch(stop);
      if (!is_stopped(stop)) reader.check_end();
      in.tally->finish();
    });
  }

  void lead_batch(StopOnSignal& stop) {
    Reading& in = *reading_;
    rounds_.send(batch_.messages);
    const BatchFlags flags =
        learn(batch_.growth, batch_.parts, batch_.outcomes.items.size(), nullptr, stop);
    model_->common().sightings().grow_and_add(batch_.sightings);
    stopped_elsewhere_ |= flags.stop;
    if (flags.stop) in.source->stop();  // what is on its way is learned, too
    traffic_->add_batch(batch_.expected_bytes,
                        model_->sent_by_formula(batch_.outcomes.items.size()));
    if (options_.explain_plan && !explained_ && batch_.ends_stretch) explain();
    const std::span<const float> scores = model_->scores();
    for (std::size_t b = 0; b < scores.size(); ++b) {
      batch_.outcomes.items[b].set_score(scores[b]);
    }
    in.report.add(batch_.outcomes, batch_.bad_lines);
    position_.examples = batch_.end.examples;
    position_.checksum = batch_.end.checksum;
    save_if_due(scores.size(), batch_.ends_stretch);
  }

  void explain() {
    explained_ = true;
    say_raw(model_->explain());
  }

  // ---- all ----

  /// `error`: as of BatchRounds::round.
  BatchFlags learn(const dist::Growth& growth, std::span<dist::PartBatch> parts,
                   std::size_t examples, std::exception_ptr error, StopOnSignal& stop) {
    try {
      if (!error) model_->grow(growth);
    } catch (...) {
      error = std::current_exception();
    }
    return rounds_.round(error, stop.stopped(),
                         [&](BatchFlags flags) { return model_->learn(parts, flags, examples); });
  }

  /// On rank 0: a signal came to any rank.
  bool is_stopped(const StopOnSignal& stop) const { return stop.stopped() || stopped_elsewhere_; }

  /// Checkpoints are cut where stretches of batches are (BatchMaker), so what is read and is no
  /// whole one is not learned when a signal comes: --resume reads it again.
  bool leaves_rest(const StopOnSignal& stop) const {
    return options_.save_every > 0 && is_stopped(stop) && batch_.begins_stretch;
  }

  /// After each batch. All ranks count alike.
  void save_if_due(std::size_t examples, bool ends_stretch) {
    if (options_.save_every == 0) return;
    since_save_ += examples;
    const bool knows_something = model_->common().parameters().scalars.examples > 0;
    if (since_save_ < options_.save_every || !knows_something || !ends_stretch) return;
    since_save_ = 0;
    model_->save(options_.final_model, position_);
    saved_at_ = position_.examples;
  }

  std::string not_saved() const {
    if (options_.final_model.empty()) return "";
    if (saved_at_ == 0) return "; " + options_.final_model + " is not saved";
    return fmt::format("; {} is the checkpoint after {} examples", options_.final_model, saved_at_);
  }

  void finish(StopOnSignal& stop) {
    dist::together(ranks_, [&] {
      if (!ranks_.is_root()) return;
      set_status({});
      if (is_stopped(stop) && !options_.report.quiet) say(stopped());
      if (reading_->report.labelled() > 0 || start_.position) return;
      throw std::runtime_error(
          fmt::format("no labelled example came: nothing is learned{}", not_saved()));
    });
    if (!options_.final_model.empty()) {
      model_->save(options_.final_model, position_);
    }
    const std::vector<dist::Bytes> of_ranks = ranks_.gather(rank_figures(*model_));
    dist::together(ranks_, [&] {
      if (!ranks_.is_root()) return;
      const std::uint64_t bad = reading_->tally->bad();
      reading_->report.close(bad);
      if (options_.report.quiet) return;
      RunFigures figures = reading_->report.figures(bad);
      if (model_->common().spec().has_layers()) figures.gemm = block::openblas().core;
      say_raw(mpi_summary(*model_, figures, of_ranks));
    });
  }

  std::string stopped() const {
    if (options_.save_every == 0) return kStopped;
    return fmt::format("stopped by a signal; {} examples are learned, and --resume continues there",
                       position_.examples);
  }

  MpiTrainOptions& options_;
  dist::Communicator& ranks_;
  dist::BatchRounds rounds_;
  const TrainingStart start_;
  std::unique_ptr<RankModel> model_;
  std::optional<Reading> reading_;       ///< of rank 0
  std::optional<BatchTraffic> traffic_;  ///< of rank 0
  dist::ScatterBatch batch_;
  train::InputPosition position_;  ///< of rank 0: of what is learned
  std::uint32_t first_pass_ = 0;   ///< of this run
  std::uint64_t since_save_ = 0;   ///< examples
  std::uint64_t saved_at_ = 0;     ///< examples of the pass that the last checkpoint has learned
  bool explained_ = false;
  bool stopped_elsewhere_ = false;
};

}  // namespace

void learn_together(MpiTrainOptions& options, dist::Communicator& ranks) {
  MpiTrainRun(options, ranks).run();
}

}  // namespace leveret::cli
