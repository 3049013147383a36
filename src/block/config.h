/// What the blocks of a network are told when they are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/codec.h"
#include "kernels/kernels.h"
#include "table/row_layout.h"

namespace leveret::block {

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
  std::vector<std::uint32_t> hidden;  ///< widths of the MLP's layers; empty: none
  std::uint64_t seed = 0;             ///< of the layers' first weights
  float layers_first_sum = 1;         ///< first value of their states
  bool layers_have_moments = false;   ///< they learn by Adam

  bool has_ffm() const { return k > 0; }
  bool has_fm() const { return fm_row.k > 0; }
  bool has_mlp() const { return !hidden.empty(); }
  /// Whether layers read the FM: where they have no FFM's pairs to read.
  bool layers_read_fm() const { return has_mlp() && !has_ffm(); }
  /// Whether a block asks how much of the linear part comes from each group of features.
  bool uses_groups() const { return mixed || has_mlp(); }
};

}  // namespace leveret::block
