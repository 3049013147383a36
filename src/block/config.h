/// What the blocks of a network are told when they are made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/codec.h"
#include "kernels/kernels.h"
#include "table/row_layout.h"

namespace leveret::block {

/// A tower as it differs from others (mlp_block.h).
struct Tower {
  /// Its arrays are NAME.0.weights, …, and its tensors NAME.0.out, …, which nobody else reads.
  std::string name;
  std::string input;                  ///< the tensor that it reads; one with gradients
  std::vector<std::uint32_t> hidden;  ///< widths of its layers, but for the output neuron
};

/// The tensor of what NormBlock makes.
inline constexpr const char* kMergedInputs = "norm.outputs";

struct Config {
  /// Linear, counts and the whole learn apart and are mixed online; else one sum, one loss.
  bool mixed = true;
  bool fast_head = false;  ///< with `mixed`: see fast_head.h and forgetting.h
  bool constant = true;
  bool turns = false;          ///< in batches: blocks that take turns do (block.h)
  std::uint32_t k = 0;         ///< length of an FFM slot, as rows have it; 0: no FFM
  kernels::Codec weights;      ///< of FFM rows
  kernels::StepRule ffm_rule;  ///< how they learn
  table::RowPart ffm_row;      ///< what a row has of it; slots as fields come
  table::RowPart fm_row;       ///< of the FM: one slot; k is 0: no FM
  kernels::StepRule fm_rule;
  std::vector<Tower> towers;
  std::uint64_t seed = 0;            ///< of the layers' first weights
  float layers_first_sum = 1;        ///< first value of their states
  bool layers_have_moments = false;  ///< they learn by Adam

  bool has_ffm() const { return k > 0; }
  bool has_fm() const { return fm_row.k > 0; }
  bool has_mlp() const { return !towers.empty(); }
  /// Whether a tower reads what NormBlock makes.
  bool merges() const {
    return std::ranges::find(towers, kMergedInputs, &Tower::input) != towers.end();
  }
  /// Whether layers read the FM: where they have no FFM's pairs to read.
  bool layers_read_fm() const { return merges() && !has_ffm(); }
  /// Whether a block asks how much of the linear part comes from each group of features.
  bool uses_groups() const { return mixed || merges(); }
};

}  // namespace leveret::block
