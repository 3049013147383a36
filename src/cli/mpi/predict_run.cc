#include "cli/mpi/predict_run.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/mpi/start.h"
#include "cli/signals.h"
#include "dist/folder/shard_files.h"
#include "dist/learn/batch_reader.h"
#include "dist/learn/batch_rounds.h"
#include "dist/learn/sharded_learner.h"
#include "dist/talk/agreement.h"
#include "kernels/dispatch.h"
#include "modelfile/model_io.h"

namespace leveret::cli {
namespace {

/// Examples that are scored together: what is sent for each batch beside them is little then.
constexpr std::uint32_t kBatchSize = 256;

class MpiPredictRun {
 public:
  MpiPredictRun(const InputOptions& input, const std::string& folder, dist::Communicator& ranks,
                const ScoreUser& user)
      : input_(input), ranks_(ranks), user_(user), rounds_(ranks) {
    dist::together(ranks_, [&] {
      const dist::ShardFolder stored(folder);
      const auto [first, count] =
          dist::RankShards::of(stored.shards(), ranks_.rank(), ranks_.size());
      model_ = stored.load(stored.spec(), first, count, modelfile::default_memory_limit(),
                           kernels::active());
      learner_.emplace(*model_, ranks_);
      if (ranks_.is_root()) user_.open();
    });
  }

  void run() {
    StopOnSignal stop(StopOnSignal::Then::kEndSoon);
    if (ranks_.is_root()) {
      rounds_.lead([&] { read_and_score(stop); });
    } else {
      rounds_.follow([&](dist::BatchMessage& message, std::exception_ptr error) {
        score(message.parts, message.examples, error, stop);
      });
    }
    dist::together(ranks_, [&] {
      if (ranks_.is_root()) user_.close(stop.stopped() || stopped_elsewhere_);
    });
  }

 private:
  void read_and_score(StopOnSignal& stop) {
    const feature::FeatureMap& features = *model_->frame().features();
    // A cache that is made here keeps the names of all namespaces.
    if (input_.cache.empty()) features.close_names(names_);
    spec::Spec spec = model_->spec();
    spec.batch_size = kBatchSize;
    dist::BatchMaker maker(spec, features.plans(), model_->plan().fields(), names_, {},
                           model::Use::kPredict);
    dist::Plan plan = model_->plan();
    tally_ = bad_line_tally(input_);
    source_ = open_examples(input_, names_, parser_options(spec, input_), *tally_);
    stop.watch(source_.get());
    work_through(*source_, *tally_, {[this] { return scored_; }}, [&] {
      dist::BatchReader reader(*source_, maker, plan, dist::Split::kFeatures, ranks_.size(), {},
                               [&](const text::ExampleChunk& chunk, std::uint64_t) {
                                 count_lines(*source_, chunk, *tally_);
                                 user_.expect(chunk);
                                 return tally_->bad();
                               });
      while (reader.next(batch_)) lead_batch(stop);
      tally_->finish();
    });
  }

  void lead_batch(StopOnSignal& stop) {
    rounds_.send(batch_.messages);
    std::vector<predict::Outcome>& outcomes = batch_.outcomes.items;
    if (score(batch_.parts, outcomes.size(), nullptr, stop).stop) {
      stopped_elsewhere_ = true;
      source_->stop();
    }
    for (std::size_t b = 0; b < outcomes.size(); ++b) {
      outcomes[b].set_score(learner_->scores()[b]);
    }
    scored_ += outcomes.size();
    user_.add(batch_.outcomes);
  }

  dist::BatchFlags score(std::span<dist::PartBatch> parts, std::size_t examples,
                         std::exception_ptr error, StopOnSignal& stop) {
    return rounds_.round(error, stop.stopped(), [&](dist::BatchFlags flags) {
      return learner_->predict(parts, flags, examples);
    });
  }

  const InputOptions& input_;
  dist::Communicator& ranks_;
  const ScoreUser& user_;
  dist::BatchRounds rounds_;
  std::unique_ptr<dist::ShardedModel> model_;
  std::optional<dist::ShardedLearner> learner_;
  dist::ScatterBatch batch_;
  // Rank 0 has these; the source uses the two before it.
  text::NamespaceNames names_;
  std::unique_ptr<stream::BadLineTally> tally_;
  std::unique_ptr<stream::ExampleSource> source_;
  std::uint64_t scored_ = 0;
  bool stopped_elsewhere_ = false;
};

}  // namespace

void score_together(InputOptions& input, const std::string& folder, dist::Communicator& ranks,
                    const std::function<void()>& check, const ScoreUser& user) {
  dist::from_root(
      ranks,
      [&] {
        settle_input(input);
        check();
        const std::uint32_t shards = dist::ShardFolder(folder).shards();
        if (shards < ranks.size()) {
          throw std::runtime_error(
              fmt::format("{}: has {} shards for {} processes; start {} or fewer (mpirun -n)",
                          folder, shards, ranks.size(), shards));
        }
        return dist::Bytes();
      },
      exit_code_of);
  MpiPredictRun(input, folder, ranks, user).run();
}

}  // namespace leveret::cli
