/// Bytes that the batches of `leveret-mpi train` send: measured, and by formula from their
/// features.
#pragma once

#include <cstdint>
#include <string>

#include "dist/communicator.h"
#include "dist/sharded_model.h"

namespace leveret::cli {

/// Of rank 0, which sends all of the input and, where there are 2^n ranks, as much of the sums as
/// each of the others.
class BatchTraffic {
 public:
  /// `wire_bits`: of a sum.
  BatchTraffic(const dist::ShardedModel& model, const dist::Communicator& ranks, unsigned wire_bits)
      : model_(model), ranks_(ranks), wire_bits_(wire_bits) {}

  /// To be called after each batch; `input_bytes`: of its messages, by formula.
  void add_batch(std::uint64_t examples, std::uint64_t input_bytes);
  /// Members of a JSON object about the batches since the last call, a comma before each.
  std::string take_json();

 private:
  struct Bytes {
    std::uint64_t sums = 0, input = 0, other = 0;
  };

  const dist::ShardedModel& model_;
  const dist::Communicator& ranks_;
  const unsigned wire_bits_;
  std::uint64_t batches_ = 0;
  Bytes expected_;
  Bytes measured_before_;
};

/// Which rank holds which shards, fields and pairs, and the bytes that each block sends for an
/// example: lines for people.
std::string explain_plan(const dist::ShardedModel& model, unsigned ranks, unsigned wire_bits);

}  // namespace leveret::cli
