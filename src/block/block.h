/// A part of the network: it says what it learns and what it needs, reads parameters and the tape,
/// and writes the tape.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <vector>

#include "block/config.h"
#include "tape/learned_array.h"
#include "tape/parameters.h"
#include "tape/sums.h"
#include "tape/tape.h"

namespace leveret::block {

/// A block's own data for a partition of a model, made once, and its working memory there. One
/// thread's.
class Share {
 public:
  virtual ~Share() = default;
};

/// A block's part of a cached context: its data of a request's context, for its candidates. Moved
/// from thread to thread.
class CachedPart {
 public:
  virtual ~CachedPart() = default;
  virtual std::size_t bytes() const = 0;
};

/// How the work of a block is divided, where the features of an example are in partitions.
enum class Split : std::uint8_t {
  /// Partitions make sums, with which it finishes: shards and, where these come in one round,
  /// contexts, of which it caches whatever else candidates need (cache_context). It overrides
  /// `forward`; and `backward`, if the way back asks for a share.
  kSums,
  /// All that it reads is everyone's: `finish` is its `forward`, the same everywhere. It makes no
  /// sums, unless some of contexts (Config::in_contexts) spare candidates work.
  kBehindSums,
  kWhole,  ///< not at all: shards refuse it, and candidates are scored as whole lines
};

/// The arguments of a call of a block: examples [begin, end) of a tape, as a model has them whole
/// or a partition of it. Blocks with layers (has_layers), and ways back but those of blocks with
/// per-example updates, always get all of the tape. Each shard has a tape of its own, on which
/// tensors that are everyone's lie in those of the one on which `finish` runs; a context's tape is
/// gone when its candidates come, whose tape is that of `finish`. Views.
struct Run {
  const tape::Parameters& parameters;
  tape::Tape& tape;
  std::size_t begin = 0, end = 0;
  // With partitions (partition.h, sums.h); else null.
  const tape::Partition* partition = nullptr;  ///< of `partial` and `partial_back`
  Share* share = nullptr;                      ///< of the partition, or of everyone
  const tape::BatchSums* sums = nullptr;       ///< of `partial` and `finish`

  tape::SumsOf sums_of(std::size_t b) const {
    assert(sums != nullptr);
    return (*sums)[b];
  }
};

/// Blocks run in a fixed order, forward first to last, backward last to first, over the batch of
/// 1…B examples that the tape holds. A block is const once it has declared what it learns, and
/// holds no state of an example: any number of threads may run it, each with its tape. Only
/// optimizers write weights.
///
/// A class of blocks has a constructor of (kernels, config), and `static bool is_in(config)`:
/// whether a network of this kind has one (net/make_blocks.cc, where each has its line). That of a
/// tower has a constructor of (kernels, config, tower), and is made by its kind (tower.h).
class Block {
 public:
  virtual ~Block() = default;

  // ---- what it learns and makes: called once, by declare_all, in the order of blocks ----

  /// Declares the arrays that it learns beside features (learned_array.h) and the tensors that it
  /// makes (tensor.h), as they are with so many fields, asks for those that it reads, and keeps the
  /// ids of all.
  virtual void declare(const tape::Extent&, tape::Declarations&) {}
  /// Appends what it has of the row of each feature of a field, and keeps its place. Where the
  /// network's Config has rows at that place, these are what it declares: files may have another
  /// codec.
  virtual void declare_rows(std::vector<Rows>&) {}

  /// Declares what partitions of a model add up for it (sums.h), where there are so many fields and
  /// the features of the first `shared` feature groups lie in all partitions. Called behind all
  /// `declare`s.
  virtual void declare_sums(const tape::Extent&, std::uint32_t /*shared*/,
                            const tape::Declarations&, tape::SumDecls&) {}

  // ---- what it does: forward over all examples in two steps, with the sums of all partitions in
  // between, and back (DES paper, Algorithm 1) ----

  /// Makes room on the tape for what it writes beside its tensors, which have room, of `size`
  /// examples at a time.
  virtual void open(const tape::Parameters&, std::size_t, tape::Tape&) const {}
  virtual Split split() const { return Split::kWhole; }
  /// Null: it needs nothing there.
  virtual std::unique_ptr<Share> share(const tape::Parameters&, const tape::Partition&) const {
    return nullptr;
  }
  /// Adds to this round's sums, which are 0, what the partition's features make, and keeps on the
  /// tape what its way back needs. Called for each round in which it has sums (BatchSums::round);
  /// there are no rounds on the way back.
  virtual void partial(const Run&) const {}
  /// All that follows the sums, once they are those of all partitions; `share` is that of what
  /// everyone has (Partition::Of::kEveryone). What an example gets does not depend on the others.
  virtual void finish(const Run&) const = 0;
  /// d loss / d output is on the tape; leaves d loss / d input, and the gradients of what it learns
  /// or the factors of them, by which the optimizer goes.
  virtual void finish_back(const Run&) const {}
  /// The way back of `partial`, after finish_back of all blocks; hands on the gradients of what the
  /// partition has.
  virtual void partial_back(const Run&) const {}

  /// Both steps where the model is whole.
  virtual void forward(const Run& run) const { finish(run); }
  virtual void backward(const Run& run) const {
    finish_back(run);
    partial_back(run);
  }

  /// Takes from a context's tape of one example, after `partial`, the data that candidates need in
  /// addition to its sums. Null: none.
  virtual std::unique_ptr<CachedPart> cache_context(const tape::Tape&, Share*) const {
    return nullptr;
  }
  /// Gives the candidates' share the cached part, which lives until another is given.
  virtual void use_context(Share*, CachedPart*) const {}

  // Per-example updates within a batch (Config::per_example_updates), after `forward` of all of it:

  /// Whether it goes forward and back again with each example, when what it learns has been moved
  /// by the one before. So do those whose parameters are cheap to move and adapt fast; `backward`
  /// is then of each example as if it were the only one.
  virtual bool updates_per_example() const { return false; }
  /// A block without them adds to the scores of example b what its `forward` has found, when a
  /// block before it has changed them.
  virtual void add_score(const tape::Parameters&, tape::Tape&, std::size_t) const {}

  /// Whether it has nothing to do before the first field is met.
  virtual bool needs_fields() const { return true; }
  /// Whether it consists of fully connected layers (Declarations::layers): examples then pass it
  /// together, as they share its weights, and `backward` hands each layer to Tape::sink.
  virtual bool has_layers() const { return false; }
};

}  // namespace leveret::block
