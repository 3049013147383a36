/// One line's runs and features before the line is known to be good. A bad line is never copied
/// out, so there is nothing to roll back. Private to src/text.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/example.h"

namespace leveret::text {

/// Runs have the offsets that they will have in the chunk. Room is made for many at once, so that
/// adding has no check of its own.
class StagedLine {
 public:
  /// Begins a line for `chunk`. Keeps the room, but for what only a line of many megabytes needs.
  void start(const ExampleChunk& chunk) {
    features_ = runs_ = 0;
    if (is_large()) *this = StagedLine();
    base_ = static_cast<std::uint32_t>(chunk.features.size());
  }

  /// Makes room for `count` more features and as many runs.
  void reserve(std::size_t count) {
    if (features_ + count > feature_.size() || runs_ + count > run_.size()) grow(count);
  }
  void add_feature(Feature feature) { feature_[features_++] = feature; }
  void add_feature(Feature feature, FeatureName name) {
    name_.resize(feature_.size());
    name_[features_] = name;
    add_feature(feature);
  }
  void add_run(NamespaceRun run) { run_[runs_++] = run; }

  /// The places behind the last feature and the last run, for a loop that fills `count` of both
  /// by itself, after reserve(), and then says so to added().
  Feature* free_features() { return &feature_[features_]; }
  NamespaceRun* free_runs() { return &run_[runs_]; }
  void added(std::size_t count) {
    features_ += count;
    runs_ += count;
  }

  /// Where the next feature will be in the chunk.
  std::uint32_t next_feature() const { return base_ + static_cast<std::uint32_t>(features_); }
  std::size_t run_count() const { return runs_; }
  NamespaceRun& run(std::size_t index) { return run_[index]; }

  /// Appends the line to the arrays of the chunk it was started for.
  void move_to(ExampleChunk& chunk, bool with_names) {
    chunk.features.insert(chunk.features.end(), feature_.data(), feature_.data() + features_);
    if (with_names) chunk.names.insert(chunk.names.end(), name_.data(), name_.data() + features_);
    chunk.runs.insert(chunk.runs.end(), run_.data(), run_.data() + runs_);
  }

 private:
  static constexpr std::size_t kKept = 1 << 20;
  bool is_large() const { return feature_.size() > kKept || run_.size() > kKept; }

  void grow(std::size_t count) {
    feature_.resize(2 * (features_ + count));
    run_.resize(2 * (runs_ + count));
  }

  // The sizes of the vectors are the room there is.
  std::vector<Feature> feature_;
  std::vector<FeatureName> name_;  ///< parallel to feature_, or unused
  std::vector<NamespaceRun> run_;
  std::size_t features_ = 0, runs_ = 0;
  std::uint32_t base_ = 0;  ///< features of the chunk before this line
};

}  // namespace leveret::text
