#include "dist/learn/local_learner.h"

namespace leveret::dist {

LocalLearner::LocalLearner(ShardedModel& model, const text::NamespaceNames& names)
    : model_(model),
      learner_(model, alone_),
      maker_(model.spec(), model.frame().features()->plans(), model.plan().fields(), names,
             LearnedSoFar::of(model.frame().model())),
      parts_(model.size()) {}

void LocalLearner::learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                         predict::Outcomes& outcomes) {
  for (std::size_t next = first; next < first + count;) {
    next += maker_.take(chunk, next, first + count - next);
    waits_ = true;
    if (maker_.full()) finish(outcomes);
  }
}

void LocalLearner::finish(predict::Outcomes& outcomes) {
  while (maker_.next()) learn_batch(outcomes);
  model_.frame().model().sightings().grow_and_add(maker_.sightings());
  waits_ = false;
}

void LocalLearner::learn_batch(predict::Outcomes& outcomes) {
  model_.grow(maker_.growth());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    cut(maker_.stretch(), model_.plan(), model_[p].number(), maker_.begin(), maker_.end(),
        parts_[p]);
  }
  learner_.learn(parts_, {}, maker_.size());
  maker_.finish(learner_.scores(), outcomes);
}

}  // namespace leveret::dist
