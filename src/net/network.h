/// The blocks of a model, in their order, over one tape: what every mode runs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "block/block.h"
#include "block/config.h"
#include "net/make_blocks.h"
#include "optim/optimizer.h"
#include "table/tables.h"
#include "tape/parameters.h"
#include "tape/tape.h"

namespace leveret::optim {
class Steps;
}

namespace leveret::net {

using block::Block;
using tape::Parameters;
using tape::Tape;

/// Shares of all blocks in one partition of a model, in their order; null where a block has none.
using Shares = std::vector<std::unique_ptr<block::Share>>;
/// Likewise of a context.
using CachedParts = std::vector<std::unique_ptr<block::CachedPart>>;

/// Const after construction; any number of threads, each with its tape. Features are put on the
/// tape by Lookup, for which `open` makes the rest of the room.
class Network {
 public:
  Network(const block::Config& config, const kernels::Kernels& kernels)
      : Network(config, make_blocks(config, kernels)) {}
  /// Of blocks that have declared (declare_all), in the order of running. Parameters have the
  /// shapes that these declare.
  Network(const block::Config& config, Blocks blocks);

  /// Makes room on the tape for `size` examples at a time.
  void open(const Parameters& parameters, std::size_t size, Tape& tape) const;
  /// The same for the tapes of learn_together, of an example each, whose tensors lie in joint's.
  void open_together(const Parameters& parameters, std::span<Tape> tapes, Tape& joint) const;

  /// All examples of the tape.
  void forward(const Parameters& parameters, Tape& tape) const;
  // The same in two steps: first each example on its own, when its rows have come, through the
  // per-example blocks, which read them; then all of the tape together, through the batched ones,
  // whose weights they share.
  void forward_example(const Parameters& parameters, Tape& tape, std::size_t b) const;
  /// With per-example updates the final scores come with `learn`.
  void forward_batched(const Parameters& parameters, Tape& tape) const;
  void backward(const Parameters& parameters, Tape& tape) const;

  /// Why candidates with a context are scored as wholes (predict/context_predictor.h), by a block
  /// that cannot do otherwise; empty: they need not be.
  std::string why_not_in_contexts() const;

  // For features of an example in partitions of a model (tape/partition.h): `partial` of each
  // partition, the sums of all, a round after the other; then `finish` and, to learn, finish_back
  // on the tape of what everyone has, and partial_back of each partition.

  /// std::runtime_error where a block needs whole examples.
  void check_partitions() const;
  Shares share(const Parameters& parameters, const tape::Partition& partition) const;
  /// As `open`, for a partition: what everyone has lies in `everyones`, which is open.
  void open_partition(const Parameters& parameters, std::size_t size, Tape& everyones,
                      Tape& tape) const;
  /// Adds to the sums of their round, which are zeros before.
  void partial(const Parameters& parameters, Tape& tape, const tape::Partition& partition,
               const Shares& shares, const tape::BatchSums& sums) const;
  // The same in two steps, as forward_example and forward_batched.
  void partial_example(const Parameters& parameters, Tape& tape, const tape::Partition& partition,
                       const Shares& shares, std::size_t b, const tape::BatchSums& sums) const;
  void partial_batched(const Parameters& parameters, Tape& tape, const tape::Partition& partition,
                       const Shares& shares, const tape::BatchSums& sums) const;
  /// The data of a context that blocks cache in addition to its sums, after `partial` on its tape;
  /// and the context that candidates are scored with from now on, which stays where it is.
  CachedParts cache_context(const Parameters& parameters, const Tape& tape,
                            const Shares& shares) const;
  void use_context(const Parameters& parameters, const Shares& candidates,
                   const CachedParts& context) const;
  void finish(const Parameters& parameters, Tape& tape, const Shares& shares,
              const tape::BatchSums& sums) const;
  void finish_back(const Parameters& parameters, Tape& tape, const Shares& shares) const;
  void partial_back(const Parameters& parameters, Tape& tape, const tape::Partition& partition,
                    const Shares& shares) const;

  /// backward, with the steps of what is learned (optim::Steps). With per-example updates each
  /// example is scored again and learned by the blocks that have them, before the next one is;
  /// scores are then those. The others learn from all of the batch, by the errors that this has
  /// left.
  void learn(table::Tables& tables, Parameters& parameters, Tape& tape,
             optim::Optimizer& optimizer) const;
  /// The same for several tapes of an example each, after open_together and forward_example: they
  /// pass the MLP together and its layers make one step; then each takes its other steps, in order.
  void learn_together(table::Tables& tables, Parameters& parameters, std::span<Tape> tapes,
                      Tape& joint, optim::Optimizer& optimizer) const;

 private:
  using Some = std::span<const std::unique_ptr<Block>>;
  Some before_batched() const { return Some(blocks_).first(before_batched_); }
  Some batched() const { return Some(blocks_).subspan(before_batched_); }
  /// Whether it has nothing to do yet.
  static bool rests(const Block& block, const Parameters& parameters) {
    return block.needs_fields() && parameters.layout.fields == 0;
  }
  void run_partial(const Parameters& parameters, Tape& tape, const tape::Partition& partition,
                   const Shares& shares, std::size_t i, std::size_t begin, std::size_t end,
                   const tape::BatchSums& sums) const;
  static void forward(Some blocks, const Parameters& parameters, Tape& tape, std::size_t begin,
                      std::size_t end);
  static void backward(Some blocks, const Parameters& parameters, Tape& tape);
  void learn_per_example(table::Tables& tables, Parameters& parameters, Tape& tape,
                         optim::Optimizer& optimizer) const;
  void rescore_example(const Parameters& parameters, Tape& tape, std::size_t b) const;
  void update_example(const Parameters& parameters, Tape& tape, std::size_t b,
                      optim::Steps& steps) const;

  bool can_be_divided() const;

  bool updates_per_example_;
  bool has_one_round_;  ///< of sums
  Blocks blocks_;
  std::size_t before_batched_ = 0;  ///< the first so many take part in forward_example
};

}  // namespace leveret::net
