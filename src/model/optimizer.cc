#include "model/optimizer.h"

#include <utility>

#include "model/loss_block.h"

namespace leveret::model {

void Optimizer::apply(Model& model, Tape& tape) {
  Scalars& scalars = model.scalars();
  const bool dense_stepped = std::exchange(tape.dense_stepped, false);
  bool any = false;
  for (std::size_t b = 0; b < tape.size; ++b) {
    any |= tape.scores[b].learn;
    const bool wanted = tape.label(b) != 0.0f && tape.importance(b) > 0.0f;
    if (tape.scores[b].learn) ++scalars.examples;
    if (wanted && !tape.scores[b].learn) ++scalars.dropped_gradients;
  }
  if (!any) return;
  const bool one = tape.size == 1;
  if (model.spec().has_ffm()) one ? apply_ffm(model, tape) : apply_ffm_batch(model, tape);
  if (model.spec().has_mlp() && !dense_stepped) apply_dense(model, tape);
  one ? apply_linear(model, tape) : apply_linear_batch(model, tape);
  if (model.spec().mixed()) {
    apply_groups(model, tape);
    apply_mixers(model, tape);
    count_features(model, tape);
  }
}

void Optimizer::apply_mixers(Model& model, const Tape& tape) {
  const std::size_t heads = mixed_heads(model.spec());
  Scalars& scalars = model.scalars();
  for (std::size_t b = 0; b < tape.size; ++b) {
    if (!tape.scores[b].learn) continue;
    const float label = tape.label(b);
    const float importance = tape.importance(b);
    Mixer(kFirstHeads).apply(scalars.first, tape.scores[b].first_mix, label, importance);
    Mixer(heads).apply(scalars.second, tape.scores[b].second_mix, label, importance);
  }
}

}  // namespace leveret::model
