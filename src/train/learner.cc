#include "train/learner.h"

#include <algorithm>
#include <span>

#include "model/logistic.h"

namespace leveret::train {

Learner::Learner(model::Model& model, const text::NamespaceNames& names,
                 const kernels::Kernels& kernels, unsigned thread)
    : model_(model), names_(names), network_(model.spec(), kernels), optimizer_(kernels, thread) {
  batch_.groups = model.spec().uses_groups();
  batch_.chunks_stay = group_size() == 1;  // else some examples wait for the next chunk
}

void Learner::learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                    Outcomes& outcomes) {
  for (std::size_t next = first; next < first + count;) {
    next += take(chunk, next, first + count - next);
    if (ready()) learn_taken(outcomes);
    if (stuck()) {
      model_.features().meet(names_, chunk, next, true);
      model_.fit_fields();
    }
  }
}

void Learner::finish(Outcomes& outcomes) {
  if (batch_.size() > 0) learn_taken(outcomes);
}

/// How many examples learn together: batches and groups are cut by count.
std::size_t Learner::group_size() const {
  const model::Spec& spec = model_.spec();
  return spec.has_mlp() ? std::max(spec.batch_size, spec.nn_batch_size) : spec.batch_size;
}

std::size_t Learner::take(const text::ExampleChunk& chunk, std::size_t first, std::size_t count) {
  const std::size_t room = group_size() == 1 ? kWindow : group_size();
  const std::size_t wanted = std::min(count, room - batch_.size());
  const std::size_t taken = model_.features().map(chunk, first, wanted, batch_);
  for (std::size_t i = first; i < first + taken; ++i) waiting_.add(chunk, chunk.examples[i]);
  stuck_ = taken < wanted;
  return taken;
}

bool Learner::ready() const {
  return group_size() == 1 ? batch_.size() > 0 : batch_.size() == group_size();
}

void Learner::learn_taken(Outcomes& outcomes) {
  if (model_.spec().batch_size > 1) return learn_batch(outcomes);
  group_size() > 1 ? learn_group(outcomes) : learn_window(outcomes);
}

void Learner::count_by_field() {
  field_counts_.assign(model_.fields().size(), 0);
  for (const feature::FieldRun& run : batch_.runs) field_counts_[run.field] += run.end - run.begin;
}

bool Learner::has_room(std::uint64_t times) {
  if (!model_.linear().has_room(times * batch_.linear.size())) return false;
  count_by_field();
  for (std::size_t f = 0; f < field_counts_.size(); ++f) {
    if (!model_.fields()[f].has_room(times * field_counts_[f])) return false;
  }
  return true;
}

void Learner::make_room(std::uint64_t times) {
  model_.linear().reserve(times * batch_.linear.size());
  count_by_field();
  for (std::size_t f = 0; f < field_counts_.size(); ++f) {
    model_.fields()[f].reserve(times * field_counts_[f]);
  }
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

/// The same, but the examples wait for each other before the MLP.
void Learner::learn_group(Outcomes& outcomes) {
  const std::size_t size = batch_.size();
  // Each example's tape has room for the features of all.
  if (batch_.linear.size() * size > model::Network::kManyFeatures) return learn_window(outcomes);
  // Cells of examples that wait must not move.
  model_.linear().reserve_if_alone(batch_.linear.size());
  if (group_.size() < size) group_.resize(size);
  const std::span tapes = std::span(group_).first(size);
  for (model::Tape& tape : tapes) tape.hot = tape_.hot;
  network_.open_together(model_, batch_, tapes, tape_);
  // Without the MLP in between, rows that were asked for one example ago would still be on their
  // way.
  constexpr std::size_t kRowsAhead = 3, kHomesAhead = kRowsAhead + 1;
  for (std::size_t b = 0; b < std::min(size, kHomesAhead); ++b) {
    network_.prefetch(model_, tapes[b], b);
  }
  for (std::size_t b = 0; b < std::min(size, kRowsAhead); ++b) {
    network_.resolve_rows(model_, tapes[b], b);
  }
  for (std::size_t b = 0; b < size; ++b) {
    if (const std::size_t to = b + kHomesAhead; to < size) network_.prefetch(model_, tapes[to], to);
    if (const std::size_t to = b + kRowsAhead; to < size) {
      network_.resolve_rows(model_, tapes[to], to);
    }
    network_.focus(model_, tapes[b], b);
    network_.forward_alone(model_, tapes[b], 0);
  }
  network_.learn_together(model_, tapes, tape_, optimizer_);
  for (const model::Tape& tape : tapes) report(tape, outcomes);
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
  network_.learn(model_, tape_, optimizer_);
  report(tape_, outcomes);
}

void Learner::report(const model::Tape& tape, Outcomes& outcomes) {
  const std::uint32_t constant = model_.spec().constant ? 1 : 0;
  for (std::size_t b = 0; b < tape.size; ++b) {
    const std::size_t example = tape.first + b;
    Outcome outcome = waiting_.items[example];
    outcome.probability = model::sigmoid(tape.scores[b].last);
    outcome.features = batch_.linear_end(example) - batch_.linear_begin(example) + constant;
    outcome.tag_begin = static_cast<std::uint32_t>(outcomes.tags.size());
    outcomes.tags.append(waiting_.tag(waiting_.items[example]));
    outcomes.items.push_back(outcome);
  }
}

}  // namespace leveret::train
