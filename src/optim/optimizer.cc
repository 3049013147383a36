#include "optim/optimizer.h"

#include "block/forgetting.h"
#include "block/mixer.h"

namespace leveret::optim {

void Optimizer::apply(table::Tables& tables, Parameters& parameters, Tape& tape) {
  if (!count_examples(parameters, tape)) return;
  const bool one = tape.size == 1;
  if (config_.has_ffm()) one ? apply_ffm(parameters, tape) : apply_ffm_batch(parameters, tape);
  if (config_.has_fm()) apply_row_vectors(parameters, tape);
  if (learning_.optimizer == OptimizerKind::kAdam) ++parameters.scalars.adam_steps;
  one ? apply_linear(parameters, tape) : apply_linear_batch(parameters, tape);
  apply_vectors(parameters, tape);
  if (config_.mixed) {
    apply_mixers(parameters, tape);
    count_features(tables, parameters, tape);
  }
}

/// Whether any is learned from.
bool Optimizer::count_examples(Parameters& parameters, const Tape& tape) {
  block::Scalars& scalars = parameters.scalars;
  bool any = false;
  for (std::size_t b = 0; b < tape.size; ++b) {
    any |= tape.scores[b].learn;
    if (tape.scores[b].learn) ++scalars.examples;
    if (wants_to_learn(tape, b) && !tape.scores[b].learn) ++scalars.dropped_gradients;
  }
  return any;
}

void Optimizer::apply_part(table::Tables& tables, Parameters& parameters, Tape& tape,
                           const PartOf& part) {
  for (const LayerPart& at : part.layers) apply_layer(parameters.scalars, tape, at);
  if (!count_examples(parameters, tape)) return;
  if (part.pairs != nullptr) apply_pairs(parameters, tape, part);
  if (config_.has_fm()) apply_row_vectors(parameters, tape);
  apply_linear_batch(parameters, tape);
  apply_vectors(parameters, tape);
  if (config_.mixed) count_features(tables, parameters, tape);
}

void Optimizer::apply_mixers(Parameters& parameters, const Tape& tape) {
  const block::Mixer first(config_.first_heads()), second(config_.second_heads());
  block::Scalars& scalars = parameters.scalars;
  const double share = block::forgotten_share(scalars, config_);
  const float kept = static_cast<float>(1 - share);
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (!tape.scores[b].learn) continue;
    const float label = tape.label(b);
    const float importance = tape.importance(b);
    first.apply(scalars.first, tape.scores[b].first_mix, label, importance, kept);
    second.apply(scalars.second, tape.scores[b].second_mix, label, importance, kept);
    scalars.forgotten += share;
  }
}

}  // namespace leveret::optim
