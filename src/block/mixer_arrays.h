/// A mixer's state as learned arrays.
#pragma once

#include <string>
#include <utility>

#include "block/learned_array.h"
#include "block/scalars.h"

namespace leveret::block {

/// Declares NAME.weight, NAME.sum and NAME.log_share.
template <MixerState Scalars::*kMixer>
void declare_mixer(const std::string& name, const MixerState& first, Declarations& declarations) {
  using table::Learned;
  const auto add = [&](const char* what, Learned kind, Merge merge, const auto& values,
                       float* (*at)(Scalars&)) {
    LearnedArray array{name + what, kind, merge, {values.size()}};
    array.first = [values](std::uint32_t, std::uint32_t i) { return values[i]; };
    array.floats = at;
    declarations.add(std::move(array));
  };
  add(".weight", Learned::kParameter, Merge::kAdd, first.weight,
      [](Scalars& s) { return (s.*kMixer).weight.data(); });
  add(".sum", Learned::kState, Merge::kAdd, first.sum,
      [](Scalars& s) { return (s.*kMixer).sum.data(); });
  add(".log_share", Learned::kParameter, Merge::kShares, first.log_share,
      [](Scalars& s) { return (s.*kMixer).log_share.data(); });
}

}  // namespace leveret::block
