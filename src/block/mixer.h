/// Mixing of heads: several raw scores for one example become one, by weights learned online.
///
/// Two steps, both from sequence prediction. A *logistic mixture* (Mahoney 2005, PAQ): the weighted
/// sum of the scores, weights by AdaGrad on its own loss. Then a *hedge* (Freund and Schapire 1997,
/// with a discount that lets it follow change): the probability mixture of all scores and of that
/// sum, weighted by how well each has predicted. So the result is never much worse than its best
/// part.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tape/learned_array.h"
#include "tape/mixer_state.h"
#include "tape/scalars.h"
#include "tape/tape.h"

namespace leveret::block {

struct MixerOptions {
  float rate = 0.05f;
  float init_acc = 10.0f;
  float eta = 0.5f;  ///< hedge's learning rate
};

/// A mixer of n inputs. What one example does in it, `heard`, are 2 (n + 1) numbers: the inputs,
/// then their weighted sum; for each of these the probability of what it finds more likely,
/// 1 / (1 + exp(-|score|)).
class Mixer {
 public:
  explicit Mixer(std::size_t inputs, MixerOptions options = {})
      : inputs_(inputs), options_(options) {}

  /// Reads the first n numbers of `heard` and fills the rest. Returns the mixture, a raw score.
  float forward(tape::ConstMixerState state, float* heard) const;

  /// Learns from one labelled example, and keeps so much of how well each has predicted before.
  void apply(tape::MixerState state, const float* heard, float label, float importance,
             float decay) const;

 private:
  std::size_t inputs_;
  MixerOptions options_;
};

/// Declares NAME.weight, NAME.sum and NAME.log_share; the weights begin as these, scaled to sum 1.
/// Returns the mixer without inputs.
tape::MixerDecl declare_mixer_arrays(const std::string& name, std::span<const float> weights,
                                     tape::Declarations& declarations);

/// A head's score, and its first weight.
struct MixerInput {
  tape::TensorId score;
  float weight;
};
/// Declares a mixer of these: its arrays, and the tensor NAME.heard.
tape::MixerDecl declare_mixer(const std::string& name, std::span<const MixerInput> inputs,
                              tape::Declarations& declarations);

/// The mixture of the scores of example b.
float mix(const tape::Scalars& scalars, const tape::MixerDecl& mixer, tape::Tape& tape,
          std::size_t b);

}  // namespace leveret::block
