#include "train/learner.h"

#include <algorithm>

#include "model/logistic.h"

namespace leveret::train {

Learner::Learner(model::Model& model, const text::NamespaceNames& names,
                 const kernels::Kernels& kernels)
    : model_(model), names_(names), network_(model.spec(), kernels), optimizer_(kernels) {}

void Learner::learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                    Outcomes& outcomes) {
  const std::size_t batch_size = model_.spec().batch_size;
  for (std::size_t next = first; next < first + count;) {
    const std::size_t wanted = std::min(first + count - next, batch_size - batch_.size());
    const std::size_t mapped = model_.features().map(chunk, next, wanted, batch_);
    for (std::size_t i = next; i < next + mapped; ++i) waiting_.add(chunk, chunk.examples[i]);
    next += mapped;
    if (mapped < wanted) {
      model_.features().meet(names_, chunk, next, true);
      model_.fit_fields();
    } else if (batch_.size() == batch_size) {
      learn_batch(outcomes);
    }
  }
}

void Learner::finish(Outcomes& outcomes) {
  if (batch_.size() > 0) learn_batch(outcomes);
}

void Learner::learn_batch(Outcomes& outcomes) {
  network_.resolve(model_, batch_, tape_);
  network_.forward(model_, tape_);
  network_.backward(model_, tape_);
  optimizer_.apply(model_, tape_);
  const std::uint32_t constant = model_.spec().constant ? 1 : 0;
  for (std::size_t b = 0; b < batch_.size(); ++b) {
    Outcome outcome = waiting_.items[b];
    outcome.probability = model::sigmoid(tape_.scores[b].last);
    outcome.features = batch_.linear_end(b) - batch_.linear_begin(b) + constant;
    outcome.tag_begin = static_cast<std::uint32_t>(outcomes.tags.size());
    outcomes.tags.append(waiting_.tag(waiting_.items[b]));
    outcomes.items.push_back(outcome);
  }
  waiting_.clear();
  batch_.clear();
}

}  // namespace leveret::train
