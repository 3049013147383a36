/// What a mixer (block/mixer.h) has learned, and what one example did in it.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace leveret::tape {

/// The learned state; 4 inputs at most. Plain floats, stored as they are.
struct MixerState {
  static constexpr std::size_t kInputs = 4;
  std::array<float, kInputs> weight{};
  std::array<float, kInputs> sum{};  ///< AdaGrad accumulators
  /// Far behind is as good as out: bounded, so that a change of fortune is followed in time.
  static constexpr float kLeastShare = -40;
  /// Hedge: log weights. The largest is 0, and none is below kLeastShare.
  std::array<float, kInputs + 1> log_share{};
};

/// What one example did in a mixer; kept on the tape between forward and apply.
struct MixerTape {
  std::array<float, MixerState::kInputs + 1> score{};  ///< the inputs, then their weighted sum
  /// By score: the probability of what is more likely, 1 / (1 + exp(-|score|)).
  std::array<float, MixerState::kInputs + 1> likely{};
  float mixed = 0;  ///< the result, a raw score
};

/// Brings logarithms of shares, which have changed, to what MixerState::log_share promises.
void bound_shares(std::span<float> log_share);

}  // namespace leveret::tape
