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

/// A part of rows (table/row_layout.h), and how it learns.
struct Rows {
  enum class Kind {
    kFfm,  ///< a slot for each opposite field
    kFm,   ///< a vector
    kOwn,  ///< a block's own, of which no option tells
  };
  Kind kind = Kind::kFfm;
  table::RowPart part;  ///< slots as fields come
  kernels::StepRule rule;
};

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
  bool turns = false;  ///< in batches: blocks that take turns do (block.h)
  /// Whether what adds to the answer is summed up apart, where portions do not know of each other
  /// by how much FFM and FM are scaled.
  bool scores_apart = false;
  std::vector<Rows> rows;  ///< in the order of the parts; one of a kind, but for kOwn
  std::vector<Tower> towers;
  std::uint64_t seed = 0;            ///< of the layers' first weights
  float layers_first_sum = 1;        ///< first value of their states
  bool layers_have_moments = false;  ///< they learn by Adam

  /// Null: it has none.
  const Rows* find_rows(Rows::Kind kind) const {
    const auto found = std::ranges::find(rows, kind, &Rows::kind);
    return found != rows.end() ? &*found : nullptr;
  }
  bool has_ffm() const { return find_rows(Rows::Kind::kFfm) != nullptr; }
  bool has_fm() const { return find_rows(Rows::Kind::kFm) != nullptr; }
  bool has_mlp() const { return !towers.empty(); }
  /// Whether whatever adds to the answer adds to one sum: with one head and without layers.
  bool has_one_score() const { return !mixed && !has_mlp() && !scores_apart; }
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
