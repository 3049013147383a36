/// What the blocks of a network are told when they are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/codec.h"
#include "kernels/kernels.h"

namespace leveret::block {

struct Config {
  /// Linear, counts and the whole learn apart and are mixed online; else one sum, one loss.
  bool mixed = true;
  bool constant = true;
  std::uint32_t k = 0;                ///< length of an FFM slot, as rows have it; 0: no FFM
  kernels::Codec weights;             ///< of FFM rows
  kernels::StepRule ffm_rule;         ///< how they learn
  std::vector<std::uint32_t> hidden;  ///< widths of the MLP's layers; empty: none

  bool has_ffm() const { return k > 0; }
  bool has_mlp() const { return k > 0 && !hidden.empty(); }
  /// Whether a block asks how much of the linear part comes from each group of features.
  bool uses_groups() const { return mixed || has_mlp(); }
  /// How many scores the second mixer mixes: the first stage's, the joint head's (linear2 + FFM),
  /// and the same with the MLP where there is one.
  std::size_t mixed_heads() const { return has_mlp() ? 3 : 2; }
};

}  // namespace leveret::block
