#include "block/mixer.h"

#include <algorithm>
#include <cmath>

#include "block/logistic.h"

namespace leveret::block {

tape::MixerState Mixer::first_state(std::array<float, tape::MixerState::kInputs> weights) const {
  tape::MixerState state;
  float sum = 0;
  for (std::size_t i = 0; i < inputs_; ++i) sum += weights[i];
  for (std::size_t i = 0; i < inputs_; ++i) state.weight[i] = weights[i] / sum;
  state.sum.fill(options_.init_acc);
  return state;
}

void Mixer::forward(const tape::MixerState& state, tape::MixerTape& tape) const {
  float sum = 0;
  for (std::size_t i = 0; i < inputs_; ++i) sum += state.weight[i] * tape.score[i];
  tape.score[inputs_] = clamp_score(sum);
  float shares = 0, p = 0;
  for (std::size_t i = 0; i <= inputs_; ++i) {
    const float share = std::exp(state.log_share[i]);
    const float score = tape.score[i];
    const float unlikely = std::exp(-std::fabs(score));
    const float likely = tape.likely[i] = 1.0f / (1.0f + unlikely);
    shares += share;
    p += share * (score > 0 ? likely : unlikely * likely);
  }
  tape.mixed = clamp_score(logit(std::clamp(p / shares, 1e-7f, 1.0f - 1e-7f)));
}

void Mixer::apply(tape::MixerState& state, const tape::MixerTape& tape, float label,
                  float importance, float kept) const {
  const float g = logistic_gradient(tape.score[inputs_], label, importance);
  for (std::size_t i = 0; i <= inputs_; ++i) {
    // The logistic loss: log(1 + exp(-|z|)), and |z| more for who was on the wrong side.
    const float wrong = std::max(-label * tape.score[i], 0.0f);
    const float loss = wrong - std::log(tape.likely[i]);
    state.log_share[i] = kept * state.log_share[i] - options_.eta * importance * loss;
  }
  tape::bound_shares(std::span(state.log_share).first(inputs_ + 1));
  for (std::size_t i = 0; i < inputs_; ++i) {
    const float d = g * tape.score[i];
    if (d == 0.0f) continue;
    state.sum[i] += d * d;
    state.weight[i] -= options_.rate * d / std::sqrt(state.sum[i]);
  }
}

}  // namespace leveret::block
