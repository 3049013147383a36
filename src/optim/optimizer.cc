#include "optim/optimizer.h"

#include <algorithm>
#include <span>

#include "block/forgetting.h"
#include "block/mixer.h"

namespace leveret::optim {

void Optimizer::apply(table::Tables& tables, Parameters& parameters, Tape& tape) {
  if (!count_examples(parameters, tape, 0, tape.size)) return;
  apply_rows(parameters, tape);
  tape.is_single() ? apply_linear(parameters, tape, 0) : apply_linear_batch(parameters, tape);
  apply_vectors(parameters, tape);
  if (!config_.mixed) return;
  apply_mixers(parameters, tape, 0, tape.size);
  count_features(tables, parameters, tape, 0, tape.size);
}

void Optimizer::apply_turn(table::Tables& tables, Parameters& parameters, Tape& tape,
                           std::size_t b) {
  if (!count_examples(parameters, tape, b, b + 1)) return;
  apply_linear(parameters, tape, b);
  apply_vectors(parameters, tape);
  if (!config_.mixed) return;
  apply_mixers(parameters, tape, b, b + 1);
  count_features(tables, parameters, tape, b, b + 1);
}

void Optimizer::apply_after_turns(Parameters& parameters, Tape& tape) {
  const std::span learn = std::span(tape.learn).first(tape.size);
  if (std::ranges::find(learn, 1) != learn.end()) apply_rows(parameters, tape);
}

/// What the examples of a batch move together, but for layers; and counts their step.
void Optimizer::apply_rows(Parameters& parameters, Tape& tape) {
  if (config_.has_ffm()) {
    tape.is_single() ? apply_ffm(parameters, tape) : apply_ffm_batch(parameters, tape);
  }
  if (config_.has_fm()) apply_row_vectors(parameters, tape);
  if (learning_.nn.rule == UpdateRule::kAdam) ++parameters.scalars.adam_steps;
}

/// Of examples [begin, end). Whether any is learned from.
bool Optimizer::count_examples(Parameters& parameters, const Tape& tape, std::size_t begin,
                               std::size_t end) {
  tape::Scalars& scalars = parameters.scalars;
  bool any = false;
  for (std::size_t b = begin; b < end; ++b) {
    any |= tape.learn[b];
    if (tape.learn[b]) ++scalars.examples;
    if (wants_to_learn(tape, b) && !tape.learn[b]) ++scalars.dropped_gradients;
  }
  return any;
}

void Optimizer::apply_part(table::Tables& tables, Parameters& parameters, Tape& tape,
                           const PartOf& part) {
  for (const LayerPart& at : part.layers) apply_layer(parameters.scalars, tape, at);
  if (!count_examples(parameters, tape, 0, tape.size)) return;
  if (part.pairs != nullptr) apply_pairs(parameters, tape, part);
  if (config_.has_fm()) apply_row_vectors(parameters, tape);
  apply_linear_batch(parameters, tape);
  apply_vectors(parameters, tape);
  if (config_.mixed) count_features(tables, parameters, tape, 0, tape.size);
}

void Optimizer::apply_mixers(Parameters& parameters, const Tape& tape, std::size_t begin,
                             std::size_t end) {
  tape::Scalars& scalars = parameters.scalars;
  const double share = block::forgotten_share(scalars, config_);
  const float kept = static_cast<float>(1 - share);
  const std::span<const tape::MixerDecl> mixers = parameters.declared().mixers;
  float* const values = scalars.mixers.data();
  for (std::size_t b = begin; b < end; ++b) {
    if (!tape.learn[b]) continue;
    const float label = tape.label(b);
    const float importance = tape.importance(b);
    for (const tape::MixerDecl& mixer : mixers) {
      block::Mixer(mixer.inputs.size())
          .apply(mixer.state(values), tape[mixer.heard].at(b), label, importance, kept);
    }
    scalars.forgotten += share;
  }
}

}  // namespace leveret::optim
