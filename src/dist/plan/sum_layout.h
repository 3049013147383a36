/// What the shards add up for a batch: the aggregates of Algorithm 1 of the DES paper.
///
/// One array of floats: a head, which belongs to whoever sends it (flags); with layers the sums of
/// the first layer's normalised weights, once a batch; then for each example its numbers, side by
/// side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block/config.h"

namespace leveret::dist {

/// Places of an example's numbers. Those that a kind of model has not have the place kNone.
struct SumLayout {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::size_t kHead = 8;  ///< floats before all others

  /// sum w x. With one head and without layers there is one score, and whatever else adds to it is
  /// in here, too: pairs and the squares of the FM, scaled as the batch says.
  std::size_t linear = kNone;
  std::size_t linear2 = kNone;         ///< mixed: the same of weight2
  std::size_t fast = kNone;            ///< mixed
  std::size_t squares = kNone;         ///< mixed: of the values of linear features
  std::size_t counts = kNone;          ///< mixed: sum a_g u_g of groups with an owner
  std::size_t by_key = kNone;          ///< mixed: u_g of each group that is cut by key
  std::size_t pairs = kNone;           ///< FFM: their sum
  std::size_t value_squares = kNone;   ///< mixed, with rows: of the values of fields' features
  std::size_t vector = kNone;          ///< FM: k floats; 2k where layers read it (FmBlock::sums)
  std::size_t vector_squares = kNone;  ///< FM: sum |x v|²
  std::size_t input_squares = kNone;   ///< layers: of what is normalised
  std::size_t normalised = kNone;      ///< layers: h floats, W p of what is normalised
  std::size_t others = kNone;          ///< layers, mixed: h floats, W u of what is not
  // Layers: sums of each group that is cut by key, which are inputs.
  std::size_t group_linear = kNone;
  std::size_t group_seen = kNone;  ///< mixed

  std::size_t size = 0;           ///< floats of an example
  std::size_t vector_floats = 0;  ///< of the FM; 0: none
  std::size_t hidden = 0;         ///< h: outputs of the first layer; 0: none
  std::size_t by_key_groups = 0;  ///< so many are cut by key, from group 0 on

  bool one_score() const { return linear2 == kNone && hidden == 0; }

  static SumLayout of(const block::Config& config, std::size_t fields, std::size_t by_key_groups);

  std::size_t column_sums() const { return kHead; }
  std::size_t example(std::size_t b) const { return kHead + hidden + b * size; }
  std::size_t floats(std::size_t examples) const { return example(examples); }
};

}  // namespace leveret::dist
