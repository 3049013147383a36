#include "predict/predictor.h"

#include <algorithm>
#include <utility>

#include "block/logistic.h"
#include "model/look_ahead.h"

namespace leveret::predict {

Predictor::Predictor(std::shared_ptr<const model::Model> model, const text::NamespaceNames& names,
                     const kernels::Kernels& kernels)
    : shared_model_(std::move(model)),
      model_(*shared_model_),
      names_(names),
      features_(model_.features()),
      lookup_(model_),
      network_(model_.config(), kernels) {
  batch_.groups = model_.spec().uses_feature_groups();
  batch_.chunks_stay = true;
  features_.meet_known(names_);
}

void Predictor::predict(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                        Outcomes& outcomes, skew::SkewCounter* skew) {
  predict(chunk, first, count, outcomes, skew, chunk.bytes);
}

void Predictor::predict(const text::ExampleChunk& chunk, std::size_t first, std::size_t count,
                        Outcomes& outcomes, skew::SkewCounter* skew, std::string_view text) {
  const bool counts = skew != nullptr && skew->tells();
  batch_.keep_origins = counts;
  lookup_.note_unknown(counts);
  for (std::size_t next = first; next < first + count;) {
    batch_.clear();
    const std::size_t wanted = std::min(first + count - next, kWindow);
    const std::size_t mapped = features_.map(chunk, next, wanted, batch_);
    if (mapped < wanted) features_.meet(names_, chunk, next + mapped, false);
    if (mapped > 0) predict_window(chunk, next, outcomes);
    if (counts) skew->count(chunk, next, batch_, lookup_, text);
    next += mapped;
  }
}

/// Examples that go through the hidden layers together. Where many fields make many inputs, their
/// inputs and gradients are kept from taking more than some megabytes.
std::size_t Predictor::together(std::size_t size) const {
  constexpr std::size_t kInputs = std::size_t{1} << 20;
  const tape::Parameters& parameters = model_.parameters();
  const std::size_t layer = parameters.layer_count() > 0 ? parameters.layer(0).inputs : 0;
  const std::size_t inputs = std::max<std::size_t>({layer, parameters.layout.pairs(), 1});
  return std::min(size, std::clamp<std::size_t>(kInputs / inputs, 1, kTogether));
}

/// Rows of more examples ahead than these would crowd each other out of the
/// second-level cache, so only the hidden layers, which read none, wait for a group to be full.
void Predictor::predict_window(const text::ExampleChunk& chunk, std::size_t first,
                               Outcomes& outcomes) {
  const std::size_t size = batch_.size();
  const std::size_t group = together(size);
  lookup_.open(model_, batch_, tape_, model::Use::kPredict);
  network_.open(model_.parameters(), group, tape_);
  model::look_ahead(
      model::LookAhead::kOne, size, [&](std::size_t b) { lookup_.prefetch(model_, tape_, b); },
      [&](std::size_t b) { lookup_.find(model_, tape_, b); },
      [&](std::size_t b) {
        if (b % group == 0) {
          tape_.first = b;
          tape_.size = std::min(group, size - b);
        }
        lookup_.resolve_values(model_, tape_, b - tape_.first);
        network_.forward_example(model_.parameters(), tape_, b - tape_.first);
        if (b + 1 < tape_.first + tape_.size) return;
        network_.forward_batched(model_.parameters(), tape_);
        add_outcomes(chunk, first, outcomes);
      });
}

/// Those of the tape.
void Predictor::add_outcomes(const text::ExampleChunk& chunk, std::size_t first,
                             Outcomes& outcomes) const {
  const std::uint32_t constant = model_.spec().constant ? 1 : 0;
  for (std::size_t b = 0; b < tape_.size; ++b) {
    const std::size_t example = tape_.first + b;
    outcomes.add(chunk, chunk.examples[first + example]);
    Outcome& outcome = outcomes.items.back();
    outcome.set_score(tape_.answers[b]);
    outcome.features = batch_.linear_end(example) - batch_.linear_begin(example) + constant;
  }
}

}  // namespace leveret::predict
