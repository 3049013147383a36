/// From parsed examples to batches, cut by count in the order of the stream, and what is new with
/// each: one rank does this for all.
///
/// Batches grow with the stream (train/batches.h), and the first ones are too small to tell by how
/// much a field will hold. So batches are made *stretch* by stretch: the examples of one are all
/// there before its first batch is, and what is new is planned by all of them. A stretch ends where
/// batches end at a multiple of batch_size, or has that many examples; so a batch of full size is a
/// stretch, and a run that ends with a stretch can go on as if it had not.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/learn/part_batch.h"
#include "feature/feature_map.h"
#include "model/model.h"
#include "predict/outcome.h"
#include "spec/spec.h"
#include "text/namespace_names.h"
#include "train/sighting_counter.h"

namespace leveret::dist {

/// How much a model has learned.
struct LearnedSoFar {
  std::uint64_t examples = 0;
  std::uint64_t taken = 0;  ///< model::Sightings::taken
  static LearnedSoFar of(const model::Model& model) {
    return {model.parameters().scalars.examples, model.sightings().taken()};
  }
};

/// One thread. Owns what features mean, as far as it has read.
class BatchMaker {
 public:
  /// `known`: namespaces and fields that all ranks know. `names` are those of the parser whose
  /// chunks will come, and outlive it. For prediction nothing is ever new, a namespace that is not
  /// known has no field, and all batches have one size. `start`: how much the model has learned.
  BatchMaker(const spec::Spec& spec, std::vector<feature::NamespacePlan> known,
             std::uint32_t known_fields, const text::NamespaceNames& names, LearnedSoFar start = {},
             model::Use use = model::Use::kLearn);

  /// Takes examples [first, first + count) of the chunk, or as many as the batch has room for;
  /// returns how many. Not of a stretch that is full.
  std::size_t take(const text::ExampleChunk& chunk, std::size_t first, std::size_t count);
  /// Whether the last example that was taken ends a batch, or a stretch.
  bool ends_batch() const { return room_ == 0; }
  bool full() const { return full_; }
  bool learns() const { return use_ == model::Use::kLearn; }

  /// The first batch of the stretch, or the one behind the batch at hand, is at hand then; each is
  /// to be finished. False: there is none, and a new stretch begins. What was taken of a batch that
  /// is not full is one.
  bool next();

  /// Examples of the batch at hand: [begin, end) of stretch().
  const feature::FeatureBatch& stretch() const { return stretch_; }
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }
  std::size_t size() const { return end_ - begin_; }
  /// Whether it is the last one of its stretch.
  bool ends_stretch() const { return end_ == stretch_.size(); }
  /// The namespaces and features that are new with it. Once for each batch: it is known then.
  Growth growth();
  /// Namespaces of the stretch's examples, once for each stretch, by plan of all that were met in
  /// it. Nobody here knows which features are new.
  model::SightingCounts sightings();
  /// Appends its outcomes, of which these are the scores.
  void finish(std::span<const float> scores, predict::Outcomes& outcomes);

 private:
  /// Namespaces and fields, as far as they were met before an example of the stretch was taken.
  struct Met {
    std::size_t example;
    std::size_t namespaces;
    std::uint32_t fields;
  };

  void meet(const text::ExampleChunk& chunk, std::size_t example);

  spec::Spec spec_;
  model::Use use_;
  feature::FeatureMap features_;
  const text::NamespaceNames& names_;

  // The stretch as it is taken.
  feature::FeatureBatch stretch_;
  predict::Outcomes waiting_;
  train::SightingCounter sightings_;
  std::vector<std::size_t> ends_;  ///< of its batches, but for one that is not full
  std::vector<Met> met_;
  std::uint64_t learned_;             ///< examples, with those that are yet to be
  std::uint64_t learned_before_ = 0;  ///< the stretch
  std::size_t room_ = 0;              ///< examples that its last batch can still take
  bool full_ = false;

  // The batch at hand.
  std::size_t begin_ = 0, end_ = 0;
  std::size_t batches_ = 0;  ///< of the stretch, with it
  std::size_t known_namespaces_;
  std::uint32_t known_fields_;
  std::size_t told_ = 0;  ///< of met_
};

}  // namespace leveret::dist
