/// Mixing of heads: several raw scores for one example become one, by weights learned online.
///
/// Two steps, both from sequence prediction. A *logistic mixture* (Mahoney 2005, PAQ): the weighted
/// sum of the scores, weights by AdaGrad on its own loss. Then a *hedge* (Freund and Schapire 1997,
/// with a discount that lets it follow change): the probability mixture of all scores and of that
/// sum, weighted by how well each has predicted. So the result is never much worse than its best
/// part.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tape/mixer_state.h"

namespace leveret::block {

struct MixerOptions {
  float rate = 0.05f;
  float init_acc = 10.0f;
  float eta = 0.5f;  ///< hedge's learning rate
};

class Mixer {
 public:
  explicit Mixer(std::size_t inputs, MixerOptions options = {})
      : inputs_(inputs), options_(options) {}

  /// First weights, scaled to sum 1.
  tape::MixerState first_state(std::array<float, tape::MixerState::kInputs> weights) const;

  /// tape.score[0..inputs) is given; fills the rest.
  void forward(const tape::MixerState& state, tape::MixerTape& tape) const;

  /// Learns from one labelled example, and keeps so much of how well each has predicted before.
  void apply(tape::MixerState& state, const tape::MixerTape& tape, float label, float importance,
             float kept) const;

 private:
  std::size_t inputs_;
  MixerOptions options_;
};

}  // namespace leveret::block
