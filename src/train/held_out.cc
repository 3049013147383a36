#include "train/held_out.h"

#include <cmath>
#include <exception>
#include <mutex>

#include "predict/predictor.h"
#include "train/team.h"

namespace leveret::train {
namespace {

/// The outcomes of one thread, then of all.
struct Seen {
  metrics::Metrics metrics;
  bool clicks = false, others = false;

  void add(const predict::Outcome& outcome) {
    metrics.add(outcome.probability, outcome.label, outcome.importance);
    if (outcome.importance == 0) return;
    clicks |= outcome.label > 0;
    others |= outcome.label < 0;
  }
  void merge(const Seen& other) {
    metrics.merge(other.metrics);
    clicks |= other.clicks;
    others |= other.others;
  }
};

}  // namespace

HeldOutFigures predict_held_out(stream::ExampleSource& source,
                                const std::shared_ptr<const model::Model>& model,
                                const text::NamespaceNames& names, const kernels::Kernels& kernels,
                                unsigned threads) {
  Seen all;
  std::mutex mutex;
  const auto predict = [&](unsigned) {
    predict::Predictor predictor(model, names, kernels);
    predict::Outcomes outcomes;
    text::ExampleChunk chunk;
    Seen seen;
    while (source.next(chunk)) {
      predictor.predict(chunk, 0, chunk.examples.size(), outcomes);
      for (const predict::Outcome& outcome : outcomes.items) seen.add(outcome);
      outcomes.clear();
    }
    const std::lock_guard lock(mutex);
    all.merge(seen);
  };
  if (threads == 1) {
    predict(0);
  } else if (const std::exception_ptr error = run_team(threads, predict, [&] { source.stop(); })) {
    std::rethrow_exception(error);
  }
  return {all.metrics.snapshot(), all.clicks && all.others};
}

bool PassJudge::is_best(std::uint32_t pass, const HeldOutFigures& held_out) {
  passes_ = pass;
  const metrics::MetricsSnapshot& figures = held_out.figures;
  if (!held_out.has_both || figures.not_finite > 0 || !std::isfinite(figures.logloss)) return false;
  if (best_.pass > 0 && !(figures.logloss < best_.loss)) return false;
  best_.pass = pass;
  best_.loss = figures.logloss;
  return true;
}

}  // namespace leveret::train
