/// What training has seen of each namespace: a statistic, by which prediction tells that its lines
/// are not like those that were learned (skew/skew.h). It changes no prediction.
///
/// One example in kStride is counted, as it is taken and before it is learned: which namespaces it
/// has, how many features in each, and how many of these were new to the model. Counts fade: when
/// kMost examples are counted, or kMostFeatures of a namespace, they are halved, so that they are
/// about the last windows. Of a namespace of which nothing new has come for long no more is asked:
/// data that is learned again, where nothing is new, says nothing of how fast new values come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "table/counter.h"

namespace leveret::model {

/// Of a namespace, or of all, in examples that were counted.
struct Seen {
  std::uint64_t examples = 0;  ///< that have it
  std::uint64_t features = 0;  ///< in these, of which it was asked whether they are new
  std::uint64_t fresh = 0;     ///< of these, those that the model did not know yet
  std::uint64_t since = 0;     ///< features that were not new, since the last that was

  void add(const Seen& more) {
    examples += more.examples;
    features += more.features;
    fresh += more.fresh;
  }
  bool operator==(const Seen&) const = default;
};

/// Counts that are not in a Sightings yet.
struct SightingCounts {
  std::uint64_t taken = 0;     ///< examples
  std::uint64_t examples = 0;  ///< of these, those that were counted
  std::vector<Seen> seen;      ///< by plan of namespaces (feature::FeatureMap::plans)
  bool operator==(const SightingCounts&) const = default;
};

/// Shared by a model and its replicas. Any number of threads `add` and read; where two meet, a lost
/// update is noise. All
/// else needs it to itself.
class Sightings {
 public:
  /// No usual number of candidates of a request, nor a power of two: what comes in turns is counted
  /// in all its turns.
  static constexpr std::uint64_t kStride = 61;
  static constexpr std::uint64_t kMost = 1024;
  static constexpr std::uint64_t kMostFeatures = 4096;
  /// Features without a new one, after which no more is asked.
  static constexpr std::uint64_t kEnough = 1024;
  /// All features of a new model are new: it is not asked of so many examples.
  static constexpr std::uint64_t kStart = 512;

  /// Makes room for so many namespaces.
  void fit(std::size_t namespaces) {
    if (seen_.size() < namespaces) seen_.resize(namespaces);
  }
  void add(const SightingCounts& counts);
  /// The same by one thread alone, with room for the namespaces.
  void grow_and_add(const SightingCounts& counts) {
    fit(counts.seen.size());
    add(counts);
  }
  void set(const SightingCounts& counts);
  SightingCounts get() const;

  /// Whether it is still asked which features of a namespace, by plan, are new.
  bool asks(std::size_t plan) const {
    return plan >= seen_.size() || seen_[plan].since.get() < kEnough;
  }

  /// Examples that learning has taken since counts are kept; 0: nothing is known.
  std::uint64_t taken() const { return taken_.get(); }

 private:
  struct SeenCounter {
    table::Counter examples, features, fresh, since;
    void add(const Seen& more);
  };
  void fade();

  table::Counter taken_, examples_;
  std::vector<SeenCounter> seen_;
};

}  // namespace leveret::model
