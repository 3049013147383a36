/// Messages of the ranks of a mesh (learner.h) about a batch: which features one needs of
/// another, their weights, and their gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dist/talk/communicator.h"
#include "table/slot.h"

namespace leveret::dist {

/// A feature of a batch, as its owner is asked for it.
struct Wanted {
  std::uint32_t shard;  ///< table::Tables: 0, or the field + 1
  table::Key key;
  bool cell = false;       ///< its linear weights are wanted
  std::uint32_t rows = 0;  ///< how often it comes as one of a field: each counts towards its row

  bool operator==(const Wanted&) const = default;
};

/// About 5 bytes for each. `features` ascend by shard.
void encode_wanted(std::span<const Wanted> features, Bytes& to);
/// std::runtime_error when these are not such bytes, or a shard is not below `shards`.
void decode_wanted(std::string_view bytes, std::uint32_t shards, std::vector<Wanted>& features);

/// Weights of the features that somebody wants, in their order.
struct Lent {
  std::vector<float> cells;  ///< of those whose cells are wanted
  /// The occurrence with which the row comes, of those that are wanted as ones of a field. That of
  /// the last one and one more: there is none yet.
  std::vector<std::uint32_t> row_from;
  std::vector<std::byte> rows;  ///< weights of those that have one, side by side
};
void encode_lent(const Lent& lent, Bytes& to);
/// Replaces `lent`; `features`: what was asked for. Each row has `row_bytes`.
void decode_lent(std::string_view bytes, std::span<const Wanted> features, std::size_t row_bytes,
                 Lent& lent);

/// Gradients of what was lent, in the same order: sums over the examples of a rank.
struct Gradients {
  std::vector<float> cells;
  std::vector<float> rows;  ///< a float for each weight
};
void encode_gradients(const Gradients& gradients, Bytes& to);
/// The numbers of floats are those that are expected; else std::runtime_error.
void decode_gradients(std::string_view bytes, std::size_t cells, std::size_t rows,
                      Gradients& gradients);

}  // namespace leveret::dist
