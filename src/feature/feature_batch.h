/// The input of the model: 1..B examples as flat arrays of features.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "feature/transform_run.h"
#include "text/example.h"
#include "text/unfilled.h"

namespace leveret::feature {

using text::Feature;
using text::Unfilled;

/// The linear features of a namespace (all of them, however the line was cut), or interactions.
/// They are counted where its first field is, + 1, or at 0 for the rest (interactions, namespaces
/// without a field). One run, of group 0, where FeatureBatch has no groups.
struct LinearRun {
  std::uint32_t group;
  std::uint32_t begin, end;  ///< in FeatureBatch::linear
};

/// The features of one field of one example.
struct FieldRun {
  std::uint32_t field;
  std::uint32_t begin, end;  ///< in FeatureBatch::field_features
};

/// A feature of a field; `linear` is the place of the same feature in FeatureBatch::linear, or
/// kNoLinear when its namespace has no linear weights; in a part of a batch (FeatureBatch::lengths)
/// kLinearElsewhere when it has some that are not in this part.
struct FieldFeature {
  std::uint32_t hash;
  float value;
  std::uint32_t linear;
};
inline constexpr std::uint32_t kNoLinear = 0xffffffffu;
inline constexpr std::uint32_t kLinearElsewhere = 0xfffffffeu;
/// Whether a part of a model scales the feature by the largest value of the feature itself: where
/// its cell is elsewhere, and where cells are hashed (-b), as one may be that of others, too, which
/// not every part meets.
inline bool has_own_largest(const FieldFeature& feature, bool hashed) {
  return feature.linear == kLinearElsewhere || (hashed && feature.linear != kNoLinear);
}
inline constexpr std::uint32_t kNoParent = 0xffffffffu;

/// Linear features, one example's after the other: their own, or those of a chunk, as they lie
/// there.
class LinearFeatures {
 public:
  std::size_t size() const { return lent_ != nullptr ? lent_size_ : own_.size(); }
  const Feature* data() const { return lent_ != nullptr ? lent_ : own_.data(); }
  const Feature& operator[](std::size_t i) const { return data()[i]; }
  const Feature* begin() const { return data(); }
  const Feature* end() const { return data() + size(); }

  void clear() {
    lent_ = nullptr;
    own_.clear();
  }
  /// Features that stay where they are until `clear`. Only those that follow each other in memory
  /// are not copied.
  void borrow(std::span<const Feature> features) {
    if (size() == 0) {
      lent_ = features.data();
      lent_size_ = 0;
    }
    if (lent_ == nullptr || features.data() != lent_ + lent_size_) return append(features);
    lent_size_ += features.size();
  }
  void append(std::span<const Feature> features) {
    std::vector<Feature>& to = own();
    to.insert(to.end(), features.begin(), features.end());
  }
  /// To be written to.
  std::vector<Feature>& own() {
    if (lent_ != nullptr) own_.assign(lent_, lent_ + lent_size_);
    lent_ = nullptr;
    return own_;
  }

 private:
  const Feature* lent_ = nullptr;
  std::size_t lent_size_ = 0;
  std::vector<Feature> own_;
};

/// Which of some numbers have come; empty again in no time.
class Seen {
 public:
  /// None has; they are below `numbers`.
  void start(std::size_t numbers) {
    if (marks_.size() < numbers) marks_.resize(numbers, 0);
    if (++mark_ > 0) return;
    std::fill(marks_.begin(), marks_.end(), 0);  // the marks of 2^32 starts ago
    mark_ = 1;
  }
  /// Whether it has come before.
  bool again(std::uint32_t number) { return std::exchange(marks_[number], mark_) == mark_; }

 private:
  std::vector<std::uint32_t> marks_;
  std::uint32_t mark_ = 0;
};

/// Owned by one thread and used again for the next batch without allocating. Example b has linear
/// runs [linear_runs_begin[b], linear_runs_begin[b+1]) and field runs [runs_begin[b],
/// runs_begin[b+1]); its field runs ascend by field and no field comes twice. Its field features
/// are [field_features_begin[b], field_features_begin[b+1]).
struct FeatureBatch {
  std::vector<float> label;       ///< +1, -1, 0 = none
  std::vector<float> importance;  ///< >= 0
  std::vector<float> initial;     ///< added to the raw score
  /// Those of --numeric, as many of each example, in the option's order; 0 where the line lacks
  /// one. Empty: there are none, or another partition of the model has them.
  std::vector<float> numbers;

  /// Whether linear features are told apart by group. Models whose blocks do not ask for groups do
  /// without: the features of an example may then be one run.
  bool groups = true;
  /// Whether the chunks that are mapped stay as they are until `clear`.
  bool chunks_stay = false;

  LinearFeatures linear;  ///< without the constant, interactions included
  Unfilled<LinearRun> linear_runs;
  std::vector<std::uint32_t> linear_runs_begin{0};

  /// By linear run: the features of the whole run, where the batch is a part of one that has more
  /// of them. Empty: runs are whole.
  std::vector<std::uint32_t> lengths;
  std::size_t length(const LinearRun& run) const {
    return lengths.empty() ? run.end - run.begin
                           : lengths[static_cast<std::size_t>(&run - linear_runs.data())];
  }

  Unfilled<FieldFeature> field_features;
  std::vector<std::uint32_t> field_features_begin{0};
  Unfilled<FieldRun> runs;
  std::vector<std::uint32_t> runs_begin{0};

  std::span<const LinearRun> linear_runs_of(std::size_t b) const {
    return {linear_runs.data() + linear_runs_begin[b],
            linear_runs.data() + linear_runs_begin[b + 1]};
  }
  std::span<const FieldRun> field_runs_of(std::size_t b) const {
    return {runs.data() + runs_begin[b], runs.data() + runs_begin[b + 1]};
  }
  /// Where an example's features are in its chunk: for who counts there what was found of them
  /// here.
  struct Origin {
    /// Bit p: it has features of plan p, and no other run of it has. Bit kOtherPlans: it has some
    /// of plans from that one on, or two runs of one. 0: `places` says where its runs are.
    std::uint64_t plans;
    /// Of its runs, one after the other, in FeatureBatch::places; kNoPlaces: it has derived ones.
    /// Where `plans` is not 0, its linear features are those of its runs, in the chunk's order.
    std::uint32_t places;
  };
  static constexpr std::uint32_t kOtherPlans = 63, kNoPlaces = 0xffffffffu;
  bool keep_origins = false;
  std::vector<Origin> origins;        ///< by example, when keep_origins
  std::vector<std::uint32_t> places;  ///< of a run's first feature in `linear`, or kNoLinear

  /// For audit: when keep_parents, the features of the chunk that each interaction feature was made
  /// of, in the order in which interactions come in `linear`; kNoParent in third place of a pair.
  bool keep_parents = false;
  std::vector<std::array<std::uint32_t, 3>> parents;

  /// Linear features of example b: [linear_begin(b), linear_end(b)).
  std::uint32_t linear_begin(std::size_t b) const { return linear_at(linear_runs_begin[b]); }
  std::uint32_t linear_end(std::size_t b) const { return linear_at(linear_runs_begin[b + 1]); }

  std::span<const Feature> linear_of(std::size_t b) const {
    return {linear.data() + linear_begin(b), linear.data() + linear_end(b)};
  }

  /// With transforms: the last example as it was mapped, derived namespaces behind its own.
  /// Features named by `parents` are then those in here.
  TransformScratch derived;

  // Working memory of FeatureMap::map, kept here so that mapping stays const and allocation free.
  std::vector<std::uint32_t> scratch;
  /// By field: the features [begin, end) of the example at hand, or begin kNowhere.
  struct FieldPlace {
    static constexpr std::uint32_t kNowhere = 0xffffffffu;
    std::uint32_t begin, end;
  };
  std::vector<FieldPlace> field_places;
  std::vector<std::uint32_t> run_order;  ///< of the example at hand: pieces of a namespace together
  Seen plans_seen;                       ///< in the example at hand

  std::size_t size() const { return label.size(); }
  void clear();

 private:
  std::uint32_t linear_at(std::size_t run) const {
    return run < linear_runs.size() ? linear_runs[run].begin
                                    : static_cast<std::uint32_t>(linear.size());
  }
};

}  // namespace leveret::feature
