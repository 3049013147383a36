#include "train/learner.h"

#include <algorithm>
#include <span>

#include "block/dense/gemm.h"
#include "block/logistic.h"
#include "model/expiry.h"
#include "model/look_ahead.h"
#include "train/batches.h"

namespace leveret::train {

Learner::Learner(model::Model& model, const text::NamespaceNames& names,
                 const kernels::Kernels& kernels, unsigned thread)
    : model_(model),
      names_(names),
      lookup_(model),
      network_(model.config(), kernels),
      optimizer_(kernels, model.config(), model.spec(), thread),
      sightings_(model, names) {
  batch_.groups = model.spec().uses_feature_groups();
  tape_.in_batches = model.spec().batch_size > 1;
  if (tape_.in_batches) tape_.gemm = &block::openblas();
  batch_.chunks_stay = most_together() == 1;  // else some examples wait for the next chunk
}

void Learner::learn(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                    Outcomes& outcomes) {
  for (std::size_t next = first; next < first + count;) {
    next += take(chunk, next, first + count - next);
    if (ready()) learn_taken(outcomes);
    forget();
    if (stuck()) {
      model_.check_growth(chunk, next, 1);
      model_.features().meet(names_, chunk, next, true);
      model_.fit_fields();
    }
  }
}

void Learner::finish(Outcomes& outcomes) {
  learn_rest(outcomes);
  forget();
}

void Learner::learn_rest(Outcomes& outcomes) {
  if (batch_.size() > 0) learn_taken(outcomes);
}

/// Forgets what is due, when no example waits. Where a window ends depends on how the input was
/// cut, but for the ends before examples that are counted and those at ticks.
void Learner::forget() {
  const spec::Spec& spec = model_.spec();
  if (batch_.size() > 0 || !spec.forgets()) return;
  const bool by_cut = most_together() == 1 && sightings_.until_counted() > 0;
  if (by_cut && !model::is_tick_due(spec, model_.parameters().scalars)) return;
  if (model::must_forget(model_)) model::forget_features(model_);
}

/// Batches and groups are cut by count.
std::size_t Learner::most_together() const {
  const spec::Spec& spec = model_.spec();
  return spec.has_layers() ? std::max(spec.batch_size, spec.nn_batch_size) : spec.batch_size;
}

/// The number of examples that learn together next, when none of them has been taken yet.
std::size_t Learner::next_nn_batch() const {
  const bool in_batches = model_.spec().batch_size > 1;
  return in_batches ? batch_after(model_.parameters().scalars.examples, model_.spec())
                    : most_together();
}

std::size_t Learner::until_none_waits() const {
  if (most_together() == 1) return kAnyCount;
  return batch_.size() == 0 ? next_nn_batch() : nn_batch_size_ - batch_.size();
}

std::size_t Learner::take(const text::ExampleChunk& chunk, std::size_t first, std::size_t count) {
  if (batch_.size() == 0) nn_batch_size_ = next_nn_batch();
  const std::size_t room = most_together() == 1 ? window() : nn_batch_size_;
  const std::size_t wanted = std::min(count, room - batch_.size());
  const std::size_t taken = model_.features().map(chunk, first, wanted, batch_);
  sightings_.take(chunk, first, taken);
  for (std::size_t i = first; i < first + taken; ++i) waiting_.add(chunk, chunk.examples[i]);
  stuck_ = taken < wanted;
  return taken;
}

/// An example that is counted begins one, so that what it is asked for does not depend on how the
/// input was cut; and so does the first one after features have been forgotten.
std::size_t Learner::window() const {
  static_assert(kWindow < model::Sightings::kStride);
  const std::size_t until = sightings_.until_counted();
  const std::size_t most = until > 0 ? std::min(until, kWindow) : kWindow;
  return std::min<std::uint64_t>(most,
                                 model::until_tick(model_.spec(), model_.parameters().scalars));
}

bool Learner::ready() const {
  return batch_.size() > 0 && (most_together() == 1 || batch_.size() == nn_batch_size_);
}

void Learner::learn_taken(Outcomes& outcomes) {
  sightings_.hand_over(
      [&](const model::SightingCounts& counts) { model_.sightings().add(counts); });
  if (model_.spec().batch_size > 1) return learn_batch(outcomes);
  most_together() > 1 ? learn_nn_batch(outcomes) : learn_window(outcomes);
}

/// Example by example.
void Learner::learn_window(Outcomes& outcomes) {
  const std::size_t size = batch_.size();
  if (size == 0) return;
  lookup_.open(model_, batch_, tape_, model::Use::kLearn);
  network_.open(model_.parameters(), 1, tape_);
  model::look_ahead(
      model::LookAhead::kOne, size, [&](std::size_t b) { lookup_.prefetch(model_, tape_, b); },
      [&](std::size_t b) { lookup_.resolve(model_, tape_, b); },
      [&](std::size_t b) {
        lookup_.bind(model_, tape_, b, 1);
        learn_tape(outcomes);
      });
  waiting_.clear();
  batch_.clear();
}

/// The same, but the examples wait for each other before the MLP.
void Learner::learn_nn_batch(Outcomes& outcomes) {
  const std::size_t size = batch_.size();
  // Each example's tape has room for the features of all.
  if (batch_.linear.size() * size > kManyFeatures) return learn_window(outcomes);
  if (nn_batch_.size() < size) nn_batch_.resize(size);
  const std::span tapes = std::span(nn_batch_).first(size);
  for (tape::Tape& tape : tapes) lookup_.open(model_, batch_, tape, model::Use::kLearn);
  network_.open_together(model_.parameters(), tapes, tape_);
  model::look_ahead(
      model::LookAhead::kThree, size, [&](std::size_t b) { lookup_.prefetch(model_, tapes[b], b); },
      [&](std::size_t b) { lookup_.resolve(model_, tapes[b], b); },
      [&](std::size_t b) {
        lookup_.bind(model_, tapes[b], b, 1);
        network_.forward_example(model_.parameters(), tapes[b], 0);
      });
  for (tape::Tape& tape : tapes) lookup_.find_moved(model_, tape);
  network_.learn_together(model_.tables(), model_.parameters(), tapes, tape_, optimizer_);
  for (const tape::Tape& tape : tapes) report(tape, outcomes);
  waiting_.clear();
  batch_.clear();
}

/// An example's rows are read when they have come, as in learn_nn_batch; those of a large batch
/// would not stay in the cache until all have.
void Learner::learn_batch(Outcomes& outcomes) {
  const std::size_t size = batch_.size();
  lookup_.open(model_, batch_, tape_, model::Use::kLearn);
  network_.open(model_.parameters(), size, tape_);
  model::look_ahead(
      model::LookAhead::kThree, size, [&](std::size_t b) { lookup_.prefetch(model_, tape_, b); },
      [&](std::size_t b) { lookup_.resolve(model_, tape_, b); },
      [&](std::size_t b) {
        lookup_.bind_example(model_, tape_, b);
        network_.forward_example(model_.parameters(), tape_, b);
      });
  lookup_.find_moved(model_, tape_);
  network_.forward_batched(model_.parameters(), tape_);
  network_.learn(model_.tables(), model_.parameters(), tape_, optimizer_);
  report(tape_, outcomes);
  waiting_.clear();
  batch_.clear();
}

void Learner::learn_tape(Outcomes& outcomes) {
  network_.forward(model_.parameters(), tape_);
  network_.learn(model_.tables(), model_.parameters(), tape_, optimizer_);
  report(tape_, outcomes);
}

void Learner::report(const tape::Tape& tape, Outcomes& outcomes) {
  const std::uint32_t constant = model_.spec().constant ? 1 : 0;
  for (std::size_t b = 0; b < tape.size; ++b) {
    const std::size_t example = tape.first + b;
    Outcome& outcome = outcomes.append(waiting_, example);
    outcome.set_score(tape.answers[b]);
    outcome.features = batch_.linear_end(example) - batch_.linear_begin(example) + constant;
  }
}

}  // namespace leveret::train
