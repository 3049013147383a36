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
  const std::uint32_t constant = model_.spec().constant ? 1 : 0;
  for (std::size_t next = first; next < first + count;) {
    batch_.clear();
    const std::size_t wanted = std::min(first + count - next, kBatch);
    const std::size_t mapped = features_.map(chunk, next, wanted, batch_);
    if (mapped < wanted) features_.meet(names_, chunk, next + mapped, false);
    if (mapped == 0) continue;
    network_.look_up(model_, batch_, tape_);
    network_.forward(model_, tape_);
    for (std::size_t b = 0; b < mapped; ++b) {
      outcomes.add(chunk, chunk.examples[next + b]);
      outcomes.items.back().probability = model::sigmoid(tape_.scores[b].last);
      outcomes.items.back().features = batch_.linear_end(b) - batch_.linear_begin(b) + constant;
    }
    next += mapped;
  }
}

}  // namespace leveret::train
