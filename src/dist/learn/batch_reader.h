/// The rank that reads, ahead of learning: a thread that takes chunks from a source, cuts batches,
/// and makes what each of the other ranks is sent of them. So batch t + 1 is read, mapped and cut
/// while batch t is learned.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "dist/learn/batch_maker.h"
#include "dist/talk/communicator.h"
#include "stream/example_source.h"
#include "stream/queue.h"
#include "train/input_position.h"

namespace leveret::dist {

/// Shards [first, first + count) of each rank.
struct RankShards {
  std::uint32_t first, count;
  static RankShards of(std::uint32_t shards, unsigned rank, unsigned ranks) {
    const auto bound = [&](unsigned r) {
      return static_cast<std::uint32_t>(std::uint64_t{shards} * r / ranks);
    };
    return {bound(rank), bound(rank + 1) - bound(rank)};
  }
};

/// A batch as rank 0 has it. Used again.
struct ScatterBatch {
  Growth growth;
  std::vector<PartBatch> parts;      ///< of rank 0's shards
  std::vector<Bytes> messages;       ///< for the others, by rank; rank 0's is empty
  std::uint64_t expected_bytes = 0;  ///< of these, by formula (batch_bytes)
  predict::Outcomes outcomes;        ///< of its examples; scores are to come
  std::uint64_t bad_lines = 0;       ///< of the lines read until it was full
  train::InputPosition end;          ///< its last example's; data, pass and ended are not set
  model::SightingCounts sightings;   ///< of its stretch, where it ends one
  bool begins_stretch = false, ends_stretch = false;  ///< see BatchMaker
};

/// The share of a batch that each rank is given.
enum class Split : std::uint8_t {
  kFeatures,  ///< all examples, with the features of its shards
  kExamples,  ///< its share of the examples (ExampleShare), whole: `plan` is of one shard
};

/// next() is for one thread. Source, maker and plan live longer and are the reader's alone.
class BatchReader {
 public:
  /// Called in the reader's thread with each chunk before it is cut; what it throws ends the input.
  /// Lines up to number `behind` are before `start`. Returns how many of the lines so far were bad.
  using Begin = std::function<std::uint64_t(const text::ExampleChunk&, std::uint64_t behind)>;

  /// `plan`: of the model as the maker knows it; it grows with each batch. `start`: where in this
  /// pass the first batch begins.
  BatchReader(stream::ExampleSource& source, BatchMaker& maker, Plan& plan, Split split,
              unsigned ranks, const train::InputPosition& start, Begin begin);
  /// Stops the source.
  ~BatchReader();
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  /// Waits for the next batch; false at the end. What ended the input is thrown after the batches
  /// before it; those of a stretch (BatchMaker) that is not full are dropped then.
  bool next(ScatterBatch& batch) { return queue_.pop(batch); }
  /// Once next() was false, unless the source was stopped: std::runtime_error when the pass has
  /// ended before `start`.
  void check_end() const { walk_.check_end(); }

 private:
  void run();
  void read();
  train::InputPosition position() const;
  bool give_stretch();
  bool give();
  void cut_for(unsigned rank);

  /// The one that is learned, one that waits, one that is being made.
  static constexpr std::size_t kBatchesAhead = 1;

  stream::ExampleSource& source_;
  BatchMaker& maker_;
  Plan& plan_;
  const Split split_;
  const unsigned ranks_;
  train::InputWalk walk_;
  const Begin begin_;
  std::uint64_t bad_lines_ = 0;
  std::vector<train::InputPosition>
      ends_;  ///< by batch of the stretch, but for one that is not full
  ScatterBatch making_;
  std::vector<PartBatch> parts_;  ///< working memory: of another rank
  std::vector<float> no_scores_;
  stream::BoundedQueue<ScatterBatch> queue_{kBatchesAhead};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace leveret::dist
