#include "train/hogwild.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <exception>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "model/expiry.h"
#include "rules/kinds.h"
#include "stream/text_reader.h"
#include "train/batches.h"
#include "train/learner.h"
#include "train/team.h"

namespace leveret::train {
namespace {

/// Puts the calling thread on the index-th processor it may use. Best effort: a wish for speed.
void pin_to(unsigned index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) == 0) return;
  unsigned left = index % static_cast<unsigned>(CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

}  // namespace

/// One thread: its parser, its replica, its learner.
class Hogwild::Worker {
 public:
  Worker(Hogwild& all, unsigned thread)
      : all_(all),
        thread_(thread),
        replica_(all.make_replica()),
        learner_(replica_, all.names_, all.kernels_, thread),
        parser_(all.names_, all.options_.parser),
        hot_() {
    learner_.use(hot_);
    const std::lock_guard lock(all_.dense_mutex_);
    all_.workers_.push_back(this);
  }
  ~Worker() {
    const std::lock_guard lock(all_.dense_mutex_);
    std::erase(all_.workers_, this);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run(const Next& next, bool parse, const Parsed& parsed, const Report& report) {
    text::ExampleChunk chunk;
    while (!all_.stop_ && next(chunk, thread_)) {
      if (parse) stream::parse_chunk(parser_, chunk);
      {
        const std::lock_guard lock(all_.report_mutex_);
        parsed(chunk, thread_);
      }
      learn(chunk);
      give(report);
    }
    while (!finish()) make_room();
    give(report);
  }

  /// Adds what it has learned to the model's parameters, and takes over theirs. Under dense_mutex_.
  void merge() {
    if (layout_ != all_.layouts_) return;
    all_.model_.parameters().exchange(before_, replica_.parameters());
    merges_ = ++all_.merges_;
    since_merge_ = 0;
    unmerged_ = false;
  }

 private:
  /// Learns what waits for the rest of its batch; false when the tables have no room for it.
  bool finish() {
    const std::shared_lock lock(all_.shape_mutex_);
    if (!learner_.has_room(all_.options_.threads)) return false;
    refresh(true);
    learner_.learn_rest(outcomes_);
    unmerged_ = true;
    leave(true);
    return true;
  }

  /// Calls change() with the tables to itself: what threads have learned into replicas of
  /// parameters may stay there.
  template <class Change>
  void change_tables(Change change) {
    const std::unique_lock alone(all_.shape_mutex_);
    change();
    all_.choose_rows();
    ++all_.shapes_;
  }

  void make_room() {
    change_tables([&] {
      learner_.make_room(2 * all_.options_.threads);
      if (!all_.must_forget()) return;
      all_.forget();
      learner_.make_room(2 * all_.options_.threads);
    });
  }

  void forget() {
    change_tables([&] {
      if (all_.must_forget()) all_.forget();  // another thread may have been faster
    });
  }

  void learn(const text::ExampleChunk& chunk) {
    // Examples that are ready must not wait for the next chunk: they need features of this one.
    for (std::size_t next = 0; (next < chunk.examples.size() || learner_.ready()) && !all_.stop_;) {
      Need need = Need::kNothing;
      bool must_forget = false;
      {
        const std::shared_lock lock(all_.shape_mutex_);
        refresh(next == 0);
        const std::size_t begin = next;
        const std::size_t end = std::min(chunk.examples.size(), next + all_.merge_every(learned()));
        next = learn_until(chunk, next, end, need);
        since_merge_ += next - begin;
        const bool chunk_ends = next == chunk.examples.size() && !learner_.ready();
        leave(chunk_ends || since_merge_ >= merge_every());
        must_forget = all_.must_forget();
      }
      if (must_forget) forget();
      if (need == Need::kRoom) make_room();
      if (need == Need::kNamespace) meet(chunk, next);
    }
  }

  /// Examples between two merges of parameters. A batch is one step of the layers, however many
  /// examples it has: to merge large layers with each batch would take time alone
  /// (scripts/bench/threads.sh).
  std::size_t merge_every() const {
    const std::size_t batches = std::max(kBatches / all_.options_.threads, 1u);
    return std::max(all_.merge_every(learned()),
                    batches * batch_after(learned(), all_.model_.spec()));
  }
  /// Examples, as far as it knows.
  std::uint64_t learned() const { return replica_.parameters().scalars.examples; }

  /// Makes the model know the namespaces of an example.
  void meet(const text::ExampleChunk& chunk, std::size_t example) {
    change_tables([&] {
      if (all_.model_.features().has_met(chunk, chunk.examples[example])) return;
      all_.model_.check_growth(chunk, example, all_.options_.threads);
      all_.change_parameters();
      all_.model_.features().meet(all_.names_, chunk, example, true);
      all_.model_.fit_fields();
    });
  }

  enum class Need { kNothing, kNamespace, kRoom };

  /// Returns where it stopped: at `end`, or before it when a thread, this one for what `need` says,
  /// needs the model to itself.
  std::size_t learn_until(const text::ExampleChunk& chunk, std::size_t next, std::size_t end,
                          Need& need) {
    while (next < end || learner_.ready()) {
      if (!learner_.ready()) {
        next += learner_.take(chunk, next, end - next);
        if (!learner_.ready() && learner_.stuck()) {
          need = Need::kNamespace;
          return next;
        }
        if (!learner_.ready()) return next;
      }
      if (!learner_.has_room(all_.options_.threads)) {
        need = Need::kRoom;
        return next;
      }
      const bool stuck = learner_.stuck();
      learner_.learn_taken(outcomes_);
      unmerged_ = true;
      if (stuck) {
        need = Need::kNamespace;
        return next;
      }
      if (all_.shape_mutex_.wanted()) return next;
    }
    return next;
  }

  /// The replica becomes as the model is, where the shape of parameters has changed; and after a
  /// wait, if others have merged meanwhile.
  void refresh(bool has_waited) {
    const std::lock_guard lock(all_.dense_mutex_);
    const bool is_old = has_waited && !unmerged_ && merges_ != all_.merges_;
    if (std::exchange(layout_, all_.layouts_) != all_.layouts_ || is_old) {
      assert(!unmerged_);  // see change_parameters
      replica_.parameters() = all_.model_.parameters();
      before_ = replica_.parameters();
      merges_ = all_.merges_;
    }
    if (all_.young()) return;
    if (std::exchange(shape_taken_, all_.shapes_) != all_.shapes_) {
      hot_.take(all_.model_.tables(), all_.hot_rows_);
    }
  }

  /// Before others may change the shape, which moves rows.
  void leave(bool merges) {
    const std::lock_guard lock(all_.dense_mutex_);
    if (merges) merge();
    if (!all_.young()) hot_.sync(all_.model_.tables(), all_.kernels_);
  }

  void give(const Report& report) {
    const std::lock_guard lock(all_.report_mutex_);
    report(outcomes_, thread_);
    outcomes_.clear();
  }

  Hogwild& all_;
  const unsigned thread_;
  model::Model replica_;
  model::Parameters before_;
  Learner learner_;
  text::Parser parser_;
  model::HotRows hot_;
  std::size_t layout_ = 0;       ///< that of the replica; 0: it has none yet
  std::size_t merges_ = 0;       ///< that the replica has seen
  std::size_t since_merge_ = 0;  ///< examples that were taken
  bool unmerged_ = false;        ///< whether it has learned since then
  std::size_t shape_taken_ = 0;  ///< the one in which the rows of hot_ were taken
  Outcomes outcomes_;
};

Hogwild::Hogwild(model::Model& model, text::NamespaceNames& names, const kernels::Kernels& kernels,
                 HogwildOptions options)
    : model_(model), names_(names), kernels_(kernels), options_(options) {
  const std::vector<block::Rows> rows = model.config().rows;
  copies_rows_ = std::ranges::all_of(
      rows, [](const block::Rows& part) { return part.rule->fused() != nullptr; });
}

void Hogwild::choose_rows() {
  if (copies_rows_) model::HotRows::choose(model_.tables(), hot_rows_);
}

void Hogwild::change_parameters() {
  const std::lock_guard dense(dense_mutex_);
  for (Worker* const worker : workers_) worker->merge();
  ++layouts_;
}

model::Model Hogwild::make_replica() {
  const std::shared_lock shape(shape_mutex_);
  const std::lock_guard dense(dense_mutex_);
  return model_.replica();
}

bool Hogwild::must_forget() {
  if (!model_.spec().forgets()) return false;  // before the lock, which each merge would take twice
  const std::lock_guard dense(dense_mutex_);
  return model::must_forget(model_);
}

void Hogwild::forget() {
  change_parameters();
  model::forget_features(model_);
  hot_rows_ = {};  // rows have moved
}

void Hogwild::run(const Next& next, const Stop& stop, bool parse, const Parsed& parsed,
                  const Report& report) {
  model_.tables().set_concurrent(true);
  choose_rows();
  const std::exception_ptr error = run_team(
      options_.threads,
      [&](unsigned i) {
        if (options_.pin) pin_to(i);
        Worker(*this, i).run(next, parse, parsed, report);
      },
      [&] {
        stop_ = true;
        stop();  // threads that wait for input are not to wait for ever
      });
  model_.tables().set_concurrent(false);
  if (error) std::rethrow_exception(error);
}

/// Threads put their work together by adding changes (rules::Rule::fused).
void check_threads(unsigned threads, const spec::Spec& spec) {
  if (threads == 1 || spec.batch_size > 1 || !spec.has_towers()) return;
  if (rules::make_rule({.part = spec.nn})->fused() != nullptr) return;
  throw std::runtime_error(
      fmt::format("--optimizer {} with --threads needs batches: give --batch_size (64 is a good "
                  "start), or one thread",
                  spec.nn.rule));
}

}  // namespace leveret::train
