#include "block/loss_block.h"

#include <array>
#include <cmath>

#include "block/fast_head.h"
#include "block/logistic.h"
#include "block/mixer.h"
#include "block/mixer_arrays.h"
#include "text/example.h"

namespace leveret::block {

void LossBlock::declare(const tape::InputLayout&, tape::Declarations& declarations) {
  std::array<float, tape::MixerState::kInputs> second{0.2f, 0.3f};
  if (config_.has_mlp()) second[2] = 0.5f;
  declare_mixer<&tape::Scalars::second>(
      "second_mixer", Mixer(config_.second_heads()).first_state(second), declarations);
}

void LossBlock::open(const tape::Parameters&, std::size_t size, tape::Tape& tape) const {
  tape::at_least(tape.scores, size);
}

void LossBlock::forward(const tape::Parameters& parameters, tape::Tape& tape, std::size_t begin,
                        std::size_t end) const {
  if (!config_.mixed) return;
  const std::size_t heads = config_.second_heads();
  for (std::size_t b = begin; b < end; ++b) {
    tape::Scores& scores = tape.scores[b];
    scores.second_mix.score = {scores.first, scores.ffm, scores.deep};
    if (config_.fast_head) scores.second_mix.score[heads - 1] = scores.fast;
    Mixer(heads).forward(parameters.scalars.second, scores.second_mix);
    scores.last = scores.second_mix.mixed;
  }
}

void LossBlock::backward(const tape::Parameters& parameters, tape::Tape& tape) const {
  for (std::size_t b = 0; b < tape.size; ++b) backward_turn(parameters, tape, b);
}

void LossBlock::backward_turn(const tape::Parameters&, tape::Tape& tape, std::size_t b) const {
  tape::Scores& s = tape.scores[b];
  const float label = tape.label(b);
  const float importance = tape.importance(b);
  s.learn = label != 0.0f && importance > 0.0f && importance <= text::kMaxImportance &&
            std::isfinite(s.last);
  if (!s.learn) {
    s.d_linear = s.d_linear2 = s.d_counts = s.d_fast = s.d_ffm = s.d_deep = 0.0f;
    return;
  }
  if (!config_.mixed) {
    s.d_linear = s.d_ffm = s.d_deep = logistic_gradient(s.last, label, importance);
    return;
  }
  s.d_linear = logistic_gradient(s.linear, label, importance);
  s.d_counts = logistic_gradient(s.counts, label, importance);
  s.d_fast = config_.fast_head ? fast_gradient(s.fast, label, importance) : 0.0f;
  s.d_linear2 = s.d_ffm = s.d_deep = logistic_gradient(s.deep, label, importance);
}

}  // namespace leveret::block
