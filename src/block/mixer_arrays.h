/// A mixer's state as learned arrays.
#pragma once

#include <string>
#include <utility>

#include "tape/learned_array.h"
#include "tape/scalars.h"

namespace leveret::block {

/// Declares NAME.weight, NAME.sum and NAME.log_share.
template <tape::MixerState tape::Scalars::*kMixer>
void declare_mixer(const std::string& name, const tape::MixerState& first,
                   tape::Declarations& declarations) {
  using table::Learned;
  const auto add = [&](const char* what, Learned kind, tape::Merge merge, const auto& values,
                       float* (*at)(tape::Scalars&)) {
    tape::LearnedArray array{name + what, kind, merge, {values.size()}};
    array.first = [values](std::uint32_t, std::uint32_t i) { return values[i]; };
    array.floats = at;
    declarations.add(std::move(array));
  };
  add(".weight", Learned::kParameter, tape::Merge::kAdd, first.weight,
      [](tape::Scalars& s) { return (s.*kMixer).weight.data(); });
  add(".sum", Learned::kState, tape::Merge::kAdd, first.sum,
      [](tape::Scalars& s) { return (s.*kMixer).sum.data(); });
  add(".log_share", Learned::kParameter, tape::Merge::kShares, first.log_share,
      [](tape::Scalars& s) { return (s.*kMixer).log_share.data(); });
}

}  // namespace leveret::block
