#include "train/predictor.h"

#include <algorithm>

#include "model/logistic.h"

namespace leveret::train {

Predictor::Predictor(const model::Model& model, const text::NamespaceNames& names,
                     const kernels::Kernels& kernels)
    : model_(model),
      names_(names),
      features_(model.features()),
      network_(model.spec(), kernels) {}

void Predictor::predict(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                        Outcomes& outcomes) {
  for (std::size_t next = first; next < first + count;) {
    batch_.clear();
    const std::size_t wanted = std::min(first + count - next, kWindow);
    const std::size_t mapped = features_.map(chunk, next, wanted, batch_);
    if (mapped < wanted) features_.meet(names_, chunk, next + mapped, false);
    if (mapped > 0) predict_window(chunk, next, outcomes);
    next += mapped;
  }
}

/// Example by example; while one goes forward, the rows of the next and the index slots of the one
/// after that are on their way from memory.
void Predictor::predict_window(const text::ExampleChunk& chunk, std::size_t first,
                               Outcomes& outcomes) {
  const std::size_t size = batch_.size();
  const std::uint32_t constant = model_.spec().constant ? 1 : 0;
  network_.open(model_, batch_, 1, tape_);
  network_.prefetch(model_, tape_, 0);
  if (size > 1) network_.prefetch(model_, tape_, 1);
  network_.look_up_rows(model_, tape_, 0);
  for (std::size_t b = 0; b < size; ++b) {
    if (b + 2 < size) network_.prefetch(model_, tape_, b + 2);
    if (b + 1 < size) network_.look_up_rows(model_, tape_, b + 1);
    network_.look_at(model_, tape_, b);
    network_.forward(model_, tape_);
    outcomes.add(chunk, chunk.examples[first + b]);
    outcomes.items.back().probability = model::sigmoid(tape_.scores[0].last);
    outcomes.items.back().features = batch_.linear_end(b) - batch_.linear_begin(b) + constant;
  }
}

}  // namespace leveret::train
