/// The objects that a thread of the server has of its own: scorers of the newest versions,
/// contexts, counts.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "daemon/context_cache.h"
#include "daemon/counters.h"
#include "daemon/line_answers.h"
#include "daemon/models.h"
#include "daemon/scorer.h"

namespace leveret::daemon {

/// Its counts may be read by any thread, all else by its own.
class Worker {
 public:
  /// All outlive it.
  Worker(const Models& models, const ScorerOptions& options, std::size_t context_bytes);

  const Models& models() const { return models_; }
  /// A scorer of the version that is newest now.
  std::shared_ptr<Scorer> scorer(std::size_t model);
  /// Lets go of versions that others have replaced.
  void drop_old();

  /// For whatever the thread is at.
  LineWork& work() { return work_; }

  ThreadCounts& counts() { return counts_; }
  const ThreadCounts& counts() const { return counts_; }
  const ModelCounts& counts(std::size_t model) const { return of_models_[model].counts; }

 private:
  struct OfModel {
    ModelCounts counts;
    std::shared_ptr<Scorer> scorer;
    std::uint64_t time = 0;  ///< of the place, when it had the scorer's version
  };

  const Models& models_;
  const ScorerOptions& options_;
  ThreadCounts counts_;
  LineWork work_;
  ContextCache contexts_;
  std::deque<OfModel> of_models_;  ///< which stay where they are
};

}  // namespace leveret::daemon
