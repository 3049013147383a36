/// Bytes that the batches of `leveret-mpi train` send: measured, and by formula from their
/// features.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "cli/mpi/rank_model.h"
#include "dist/learn/sharded_model.h"
#include "dist/talk/communicator.h"

namespace leveret::cli {

/// The traffic of rank 0, which sends all of the input and, where there are 2^n ranks, as much of
/// the sums as each of the others.
class BatchTraffic {
 public:
  explicit BatchTraffic(const dist::Communicator& ranks) : ranks_(ranks) {}

  /// To be called after each batch: what it had to send, by formula. What has never been sent for
  /// is not told of.
  void add_batch(std::uint64_t input_bytes, std::span<const RankModel::Sent> sent);
  /// Members of a JSON object about the batches since the last call, a comma before each.
  std::string take_json();

 private:
  using Bytes = std::array<std::uint64_t, dist::kTraffics>;

  const dist::Communicator& ranks_;
  std::uint64_t batches_ = 0;
  std::array<bool, dist::kTraffics> told_{};
  Bytes expected_{}, measured_before_{};
};

/// Bytes that a rank sends of the sums of a batch.
std::uint64_t sums_bytes(const dist::ShardedModel& model, unsigned ranks, unsigned wire_bits,
                         std::size_t examples);

/// Which rank holds which shards, fields and pairs, and the bytes that each block sends for an
/// example: lines for people.
std::string explain_plan(const dist::ShardedModel& model, unsigned ranks, unsigned wire_bits);

}  // namespace leveret::cli
