#include "cli/learn/train_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "block/dense/gemm.h"
#include "cli/console.h"
#include "cli/learn/first_model.h"
#include "cli/learn/followed_chunks.h"
#include "cli/learn/followed_model.h"
#include "cli/learn/hashed_table.h"
#include "cli/learn/held_out_passes.h"
#include "cli/learn/learned_chunks.h"
#include "cli/learn/list_hint.h"
#include "cli/learn/named_batch.h"
#include "cli/learn/resume.h"
#include "cli/learn/run_checkpoints.h"
#include "cli/learn/run_ends.h"
#include "cli/learn/train_report.h"
#include "cli/learn/train_summary.h"
#include "cli/signals.h"
#include "dist/folder/gather.h"
#include "dist/learn/local_learner.h"
#include "files/atomic_file.h"
#include "files/file_state.h"
#include "kernels/dispatch.h"
#include "modelfile/model_io.h"
#include "store/model_file.h"
#include "stream/bad_lines.h"
#include "train/hogwild.h"
#include "train/notes.h"
#include "train/session.h"

namespace leveret::cli {
namespace {

/// Files, signals and what is told; a session does the work.
class TrainRun final : private train::SessionEvents {
 public:
  explicit TrainRun(const TrainOptions& options)
      : options_(options),
        input_(options.input),
        chunks_(options.again),
        follow_(options.follow ? follow_start(options) : FollowStart{options.initial_model}),
        checkpoints_(options.save_every, options.final_model, options.keep_checkpoints),
        memory_(options.max_memory > 0 ? options.max_memory : modelfile::default_memory_limit()),
        kernels_(kernels::active()),
        report_(options.report, options.input.passes, options.threads),
        followed_model_(options.following, options.final_model) {
    train::SessionOptions how;
    how.threads = options.threads;
    how.pin = options.pin;
    how.holdout_after = options.holdout_after;
    how.test_then_train = options.test_then_train;
    how.start = first_position();
    how.pauses_at_ends = options.follow;
    if (options.holds_out()) {
      held_out_.emplace(options.passes, options.input.passes,
                        resumed_ ? resumed_->notes.best_pass : std::nullopt);
    }
    if (options.deterministic) {
      shards_ = first_shards(options, begin_model(), memory_, kernels_);
      spec_ = shards_->spec();
      in_shards_.emplace(*shards_, names_);
      session_.emplace(
          *in_shards_, [this] { return gathered(); }, names_, kernels_, how);
    } else {
      auto model = std::make_shared<model::Model>(begin_model());
      spec_ = model->spec();
      train::check_threads(options.threads, spec_);
      session_.emplace(std::move(model), names_, kernels_, how);
    }
  }

  void run() {
    open_outputs();
    tally_ = bad_line_tally(input_);
    if (!options_.report.quiet) {
      tell_of_hashed_table(spec_);
      if (is_new_) tell_of_named_batch(spec_);
      if (input_.passes > 1 && !held_out_) {
        say("warning: without held out examples nothing shows whether the last pass is the best; "
            "leave out --holdout_off");
      }
    }
    report_.begin_progress(options_.final_model.empty(), input_.rows != nullptr);
    StopOnSignal stop;
    stop_ = &stop;
    try {
      all_known_ = !options_.follow &&
                   chunks_.pass_over(input_, notes_.chunks, resumed_ ? &start_.data : nullptr);
      start_.data = data_of(input_);
      if (!all_known_) learn_passes(stop);
      finish();
    } catch (const OutputError& error) {
      if (options_.final_model.empty() || saved_) throw;
      throw OutputError(error.what() + not_saved());  // who asked for a model is to hear of it
    }
  }

 private:
  // ---- the model ----

  /// Where the pass is begun; nothing where it need not be known.
  std::optional<train::InputPosition> first_position() {
    if (!options_.has_position() || options_.follow) return std::nullopt;
    if (options_.resume) resumed_ = find_resumed(options_, memory_);
    if (resumed_) start_ = *resumed_->notes.input;
    start_.ended = false;
    start_.is_lines = options_.threads > 1;
    pass_ = start_.pass;
    return start_;
  }

  model::Model begin_model() {
    if (resumed_ && resumed_->is_checkpoint) {
      checkpoints_.go_on(resumed_->path, resumed_->broken);
    } else if (!resumed_ && options_.has_position() && !options_.follow) {
      leave_unfinished();
    }
    model::Model model = first_model(options_, follow_.path, resumed_, memory_, notes_);
    learn_rows(input_, options_.columns, model, follow_.path, options_.report);
    is_new_ = model.parameters().scalars.examples == 0;
    overflow_before_ = model.tables().overflow_lookups();
    if (options_.follow) {
      notes_.without = follow_.without;
      notes_.unwanted = follow_.unwanted;
    }
    return model;
  }

  /// A user who forgets --resume does not lose by it what a killed run has learned.
  void leave_unfinished() {
    const std::string checkpoint = unfinished_checkpoint(options_.final_model);
    if (checkpoint.empty()) return;
    checkpoints_.leave();
    say(
        fmt::format("{}: a checkpoint of an unfinished run; it is kept, and this run starts at the "
                    "beginning; --resume would continue the unfinished run",
                    checkpoint));
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
    if (held_out_) HeldOutPasses::check_target(options_.final_model);
    report_.open_predictions();
  }

  void learn_passes(StopOnSignal& stop) {
    if (options_.follow) {
      followed_model_.begin_with(follow_.path);
      if (!options_.report.quiet) tell_of_following();
    }
    if (follow_.goes_back) {  // before a next file comes: who publishes goes back now
      save_followed();
      followed_model_.wait();
    }
    for (; pass_ < input_.passes && !stop.stopped(); ++pass_) {
      stop.watch(nullptr);
      if (pass_ > start_.pass) session_->begin_pass();
      open_input();
      report_.begin_pass(*source_);
      if (held_out_ && pass_ > 0) report_.begin_further_passes();
      stop.watch(source_.get());
      learn_pass();
      if (held_out_ && !stop.stopped() && !end_pass()) break;
    }
    if (stop.stopped() && !options_.report.quiet) say(stopped());
    // Some of a stopped cache was read and is not handed out.
    if (stop.stopped() && source_ && is_cached(*source_)) chunks_.end_at(0);
  }

  void tell_of_following() {
    const std::string from = follow_.path.empty() ? "a new model" : follow_.path;
    say(fmt::format("following {} with {}: each new file is learned, and saved as {}",
                    stream::escaped(input_.data.front()), from, options_.final_model));
  }

  /// Whether this is the first pass of this run.
  bool is_first_pass() const { return pass_ == start_.pass; }

  /// Whether it matters which chunks are learned: a model is kept that knows them, or one that knew
  /// some has begun the run.
  bool asks_for_chunks() const { return !options_.final_model.empty() || !notes_.chunks.empty(); }

  bool parses_in_threads() const { return options_.threads > 1 && input_.cache.empty(); }

  /// A thread merges its work into the model with each chunk (train::Hogwild): a chunk has several
  /// batches, of usual lines.
  LinesAhead lines_ahead() const {
    constexpr std::uint32_t kLargeBatch = 128;
    const std::size_t times = spec_.batch_size < kLargeBatch ? 1 : 2;
    return {2 * options_.threads, times * LinesAhead{}.chunk_bytes};
  }

  void open_input() {
    parser_ = parser_options(spec_, input_, known_namespaces());
    // A cache keeps what they say for a run that asks.
    const bool asks = is_first_pass() && (asks_for_chunks() || !input_.cache.empty());
    stream::SourceEvents* events = asks ? &chunks_.events() : nullptr;
    if (options_.follow) {
      input_.follow_after = notes_.followed;
      const auto model = files::state_of(
          files::state_of(options_.final_model) ? options_.final_model : options_.initial_model);
      events =
          &followed_.emplace(chunks_.events(), notes_, options_.again, model ? model->written : 0);
    }
    source_ = parses_in_threads()
                  ? open_lines(input_, lines_ahead(), events)
                  : open_examples(input_, names_, parser_, *tally_, !is_first_pass(), events);
    const cache::CacheInfo* const cache = cache_of(*source_);
    if (cache != nullptr && is_first_pass() && asks_for_chunks()) chunks_.take_from(*cache, input_);
    if (!held_out_) return;
    source_ = held_out_->learned(std::move(source_),
                                 [this](const text::ExampleChunk& all) { count(all); });
  }

  void count(const text::ExampleChunk& chunk) {
    if (!is_first_pass()) return;
    count_lines(*source_, chunk, *tally_);
    list_hint_.look(chunk, source_->source_name(chunk.source));
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
      if (!stop_->stopped()) session_->check_end();
      tally_->finish();
    });
  }

  // ---- what is held out ----

  /// Ends a pass that is learned. False where more of them are not worth it.
  bool end_pass() {
    if (report_.labelled() == 0 && !resumed_) return true;  // finish() says that it knows nothing
    const std::uint32_t pass = pass_ + 1;
    const std::shared_ptr<const model::Model> model = whole_model();
    const auto rest = held_out_->held_out(open_examples(input_, names_, parser_, *tally_, true));
    const bool is_best = held_out_->end_pass(
        pass, train::predict_held_out(*rest, model, names_, kernels_, options_.threads), *model);
    if (is_best) save_best(*model);  // before it is told
    report_.end_pass(pass, held_out_->best().pass, held_out_->last(), tally_->bad());
    return !held_out_->is_enough();
  }

  /// Learning goes on with what it is of.
  std::shared_ptr<const model::Model> whole_model() {
    if (!shards_) return session_->model();
    return gathered();
  }

  std::shared_ptr<model::Model> gathered() const {
    return std::make_shared<model::Model>(dist::gather(*shards_, memory_));
  }

  bool has_best() const { return held_out_ && held_out_->has_best(); }

  /// At once: whatever ends the run, the best model is there. A run that goes on with it begins the
  /// next pass.
  void save_best(const model::Model& model) {
    if (options_.final_model.empty()) return;
    chunks_.note(notes_.chunks);
    train::InputPosition next;
    next.pass = pass_ + 1;
    next.ended = next.pass == input_.passes;
    note(options_.has_position() ? std::optional(next) : std::nullopt);
    modelfile::save_model(model, options_.final_model, train::to_bytes(notes_));
  }

  /// At the end, when the best pass's model has been saved.
  void keep_best() {
    checkpoints_.wait();
    if (options_.final_model.empty() || !options_.has_position()) return;
    if (stop_->stopped()) {
      pause();  // learning goes on with the last model, not with the best
      return checkpoints_.wait();
    }
    HeldOutPasses::note_ended(options_.final_model);
    checkpoints_.end(options_.keep_given ? options_.keep_checkpoints : 0);
  }

  // ---- checkpoints ----

  /// In the order of the input: what lies before this source is learned.
  void note_source(std::uint32_t source) {
    std::uint32_t before = source_now_;
    while (before < source && !source_now_.compare_exchange_weak(before, source)) {
    }
  }

  bool wants_pause() override {
    return options_.save_every.given() && !options_.follow && checkpoints_.due();
  }
  bool leaves_rest() override { return session_->position() && stop_->stopped(); }

  void pause() override {
    const std::optional<train::InputPosition> position = session_->position();
    if (!position || report_.labelled() == 0) return checkpoints_.skip();
    if (is_first_pass()) chunks_.note(notes_.chunks, source_now_);
    note(position);
    const auto seconds = checkpoints_.save(*session_->model(), notes_);
    if (options_.report.quiet) return;
    say(fmt::format("{}: a checkpoint after {}; learning paused for {:.3f} s", checkpoints_.last(),
                    how_far(*position), seconds.count()));
  }

  /// A file of the folder is learned.
  void ended(std::uint32_t source) override {
    chunks_.note(notes_.chunks, std::uint64_t{source} + 1);
    const std::string& path = source_->source_name(source);
    notes_.followed = path.substr(path.rfind('/') + 1);
    followed_model_.add_file();
    if (options_.save_every.given() && !checkpoints_.due()) return;
    save_followed();
  }

  void save_followed() {
    // An error that nobody asks for would be told when the next file has come.
    const std::string worth = followed_model_.worth();
    followed_model_.save(*session_->model(), notes_, tally_->bad(), [this] {
      if (source_) source_->stop();
    });
    checkpoints_.skip();
    if (options_.report.quiet) return;
    const std::string done = notes_.followed.empty()
                                 ? "no file of the folder is learned"
                                 : "done with " + stream::escaped(notes_.followed);
    say(fmt::format("{} is saved: {}; {}", options_.final_model, done, worth));
  }

  /// Before it has passed over what the run before has learned, it is where that was.
  std::optional<train::InputPosition> position() const {
    const std::optional<train::InputPosition> position = session_->position();
    return position || !resumed_ ? position : start_;
  }

  /// Where the run has come to, for the model that is saved at its end.
  void note_position() {
    note(all_known_ ? std::nullopt : position());
    if (notes_.input) notes_.input->ended = !stop_->stopped();
  }

  void note(const std::optional<train::InputPosition>& position) {
    notes_.input = position;
    if (notes_.input) notes_.input->data = start_.data;
    notes_.best_pass.reset();
    if (held_out_) notes_.best_pass = held_out_->best();
  }

  std::string stopped() const { return stopped_text(position(), has_best() ? pass_ + 1 : 0); }

  // ---- what is told ----

  void chunk(const text::ExampleChunk& chunk, std::uint64_t behind, unsigned thread) override {
    if (!held_out_) count(chunk);  // else before examples are held out
    note_source(chunk.source);
    train::Answers* const answers = report_.answers();
    if (answers == nullptr) return;
    behind > 0 ? answers->expect_behind(behind, chunk) : answers->expect(chunk, thread);
  }
  void outcomes(predict::Outcomes& outcomes, bool held_out, unsigned thread) override {
    if (held_out) {
      report_.hold_out(tally_->bad());
      chunks_.end_at(source_now_);
    }
    checkpoints_.add(outcomes.items.size());
    if (options_.follow) followed_model_.add(outcomes);
    report_.add(outcomes, tally_->bad(), thread);
  }
  void room_for(const text::ExampleChunk& chunk, unsigned thread) override {
    note_source(chunk.source);
    if (report_.answers() != nullptr) report_.answers()->wait_for_room(chunk, thread);
  }
  void end_waiting() override {
    if (report_.answers() != nullptr) report_.answers()->stop();
  }

  std::string not_saved() {
    if (followed_model_.is_replaced()) return "";
    return not_saved_text(options_, notes_.followed, has_best() ? held_out_->best().pass : 0,
                          checkpoints_.last_there());
  }

  void finish() {
    set_status({});
    if (report_.labelled() == 0 && !all_known_ && !resumed_ && !options_.follow) {
      const bool waits = stop_->stopped() && session_->position();
      throw std::runtime_error(fmt::format(
          "{}: nothing is learned{}",
          waits ? "stopped before the first batch or window was full" : "no labelled example came",
          not_saved()));
    }
    const model::Model& model = *session_->model();
    try {
      save(model);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(error.what() + not_saved());
    }
    saved_ = true;
    report_.close(tally_->bad());
    if (!options_.report.quiet) tell_summary(model);
    if (options_.report.json) print(train_json(model, figures()) + "\n");
    for (const std::string& warning :
         {is_new_ ? report_.warning() : "", memory_warning(model, overflow_before_),
          train_warning(model), held_out_ ? held_out_->warning() : ""}) {
      if (!warning.empty()) say("warning: " + warning);
    }
  }

  void tell_summary(const model::Model& model) {
    say_raw(options_.follow ? train_log(model, figures()) : train_summary(model, figures()));
  }

  static void print(const std::string& line) {
    Output output("");
    output.write(line);
    output.close();
  }

  void save(const model::Model& model) {
    if (options_.follow) {
      if (!followed_model_.is_saved()) save_followed();
      return followed_model_.wait();
    }
    if (has_best()) return keep_best();
    chunks_.note(notes_.chunks);
    note_position();
    checkpoints_.wait();
    if (!options_.final_model.empty()) {
      modelfile::save_model(model, options_.final_model, train::to_bytes(notes_));
      if (options_.has_position()) {
        checkpoints_.end(options_.keep_given ? options_.keep_checkpoints : 0);
      }
    }
  }

  RunFigures figures() {
    RunFigures figures = report_.figures(tally_->bad());
    if (spec_.batch_size > 1 && spec_.has_layers()) figures.gemm = block::openblas().core;
    if (held_out_) figures.passes = held_out_->figures();
    return figures;
  }

  const TrainOptions& options_;
  InputOptions input_;  ///< without what is passed over
  train::Notes notes_;  ///< of what is learned
  LearnedChunks chunks_;
  const FollowStart follow_;  ///< of --follow; else -i and nothing more
  RunCheckpoints checkpoints_;
  std::optional<FollowedChunks> followed_;
  std::optional<HeldOutPasses> held_out_;
  std::optional<Resumed> resumed_;  ///< its model is in the session
  train::InputPosition start_;      ///< of the run
  bool all_known_ = false;          ///< there is nothing to learn
  bool is_new_ = false;             ///< the model has learned nothing before this run
  std::uint64_t overflow_before_ = 0;
  ListHint list_hint_;
  std::atomic<std::uint32_t> source_now_ = 0;  ///< that the last chunk came from
  StopOnSignal* stop_ = nullptr;               ///< of run()
  text::NamespaceNames names_;
  std::uint64_t memory_;  ///< limit of all tables
  const kernels::Kernels& kernels_;
  spec::Spec spec_;
  std::unique_ptr<dist::ShardedModel> shards_;  ///< with --deterministic
  std::optional<dist::LocalLearner> in_shards_;
  std::optional<train::Session> session_;
  std::unique_ptr<stream::BadLineTally> tally_;
  std::unique_ptr<stream::ExampleSource> source_;
  text::ParserOptions parser_;
  TrainReport report_;
  unsigned pass_ = 0;
  bool saved_ = false;
  FollowedModel followed_model_;  // last: its thread, which may stop the source, goes first
};

}  // namespace

void learn_and_save(const TrainOptions& options) { TrainRun(options).run(); }

}  // namespace leveret::cli
