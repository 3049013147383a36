/// The inputs of a mixer (block/mixer.h), and the numbers that it has learned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "tape/tensor.h"

namespace leveret::tape {

/// The learned state of a mixer of n inputs: a view of Scalars::mixers.
template <class Float>
struct MixerView {
  Float* weight;     ///< n
  Float* sum;        ///< n: AdaGrad accumulators
  Float* log_share;  ///< n + 1, hedge: log weights; see bound_shares
};
using MixerState = MixerView<float>;
using ConstMixerState = MixerView<const float>;

/// A mixer of a network.
struct MixerDecl {
  std::vector<TensorId> inputs;  ///< scores of heads, in the order of its weights
  /// The numbers of an example in it, from forward to apply: 2 (n + 1) of them (Mixer::forward).
  TensorId heard = TensorId::kNone;
  std::size_t weight = 0, sum = 0, log_share = 0;  ///< where they begin in Scalars::mixers

  /// `mixers`: the first number of Scalars::mixers.
  template <class Float>
  MixerView<Float> state(Float* mixers) const {
    return {mixers + weight, mixers + sum, mixers + log_share};
  }
  /// Numbers of its arrays: files of few inputs have room for four of them.
  static std::size_t most_inputs(std::size_t inputs) { return std::max<std::size_t>(inputs, 4); }
};

/// Far behind is as good as out: bounded, so that a change of fortune is followed in time.
inline constexpr float kLeastShare = -40;

/// Brings logarithms of shares, which have changed, to what they are: the largest is 0, and none is
/// below kLeastShare.
void bound_shares(std::span<float> log_share);

}  // namespace leveret::tape
