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
  const std::size_t room = batch_size == 1 ? kWindow : batch_size;
  for (std::size_t next = first; next < first + count;) {
    const std::size_t wanted = std::min(first + count - next, room - batch_.size());
    const std::size_t mapped = model_.features().map(chunk, next, wanted, batch_);
    for (std::size_t i = next; i < next + mapped; ++i) waiting_.add(chunk, chunk.examples[i]);
    next += mapped;
    if (batch_size == 1) {
      learn_window(outcomes);
    } else if (batch_.size() == batch_size) {
      learn_batch(outcomes);
    }
    if (mapped < wanted) {
      model_.features().meet(names_, chunk, next, true);
      model_.fit_fields();
    }
  }
}

void Learner::finish(Outcomes& outcomes) {
  if (batch_.size() > 0) learn_batch(outcomes);
}

/// Example by example; while one is learned, the rows of the next and the index slots of the one
/// after that are on their way from memory.
void Learner::learn_window(Outcomes& outcomes) {
  const std::size_t size = batch_.size();
  if (size == 0) return;
  network_.open(model_, batch_, 1, tape_);
  network_.prefetch(model_, tape_, 0);
  if (size > 1) network_.prefetch(model_, tape_, 1);
  network_.resolve_rows(model_, tape_, 0);
  for (std::size_t b = 0; b < size; ++b) {
    if (b + 2 < size) network_.prefetch(model_, tape_, b + 2);
    if (b + 1 < size) network_.resolve_rows(model_, tape_, b + 1);
    network_.focus(model_, tape_, b);
    learn_tape(outcomes);
  }
  waiting_.clear();
  batch_.clear();
}

void Learner::learn_batch(Outcomes& outcomes) {
  network_.resolve(model_, batch_, tape_);
  learn_tape(outcomes);
  waiting_.clear();
  batch_.clear();
}

void Learner::learn_tape(Outcomes& outcomes) {
  network_.forward(model_, tape_);
  network_.backward(model_, tape_);
  optimizer_.apply(model_, tape_);
  const std::uint32_t constant = model_.spec().constant ? 1 : 0;
  for (std::size_t b = 0; b < tape_.size; ++b) {
    const std::size_t example = tape_.first + b;
    Outcome outcome = waiting_.items[example];
    outcome.probability = model::sigmoid(tape_.scores[b].last);
    outcome.features = batch_.linear_end(example) - batch_.linear_begin(example) + constant;
    outcome.tag_begin = static_cast<std::uint32_t>(outcomes.tags.size());
    outcomes.tags.append(waiting_.tag(waiting_.items[example]));
    outcomes.items.push_back(outcome);
  }
}

}  // namespace leveret::train
