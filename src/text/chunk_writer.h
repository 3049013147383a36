/// Writes the runs and features of lines to the end of a chunk's arrays. Those of a line that
/// proves bad are taken back. Private to src/text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "text/example.h"
#include "text/unhashed_features.h"

namespace leveret::text {

/// A line has more than kMaxFeatures: known before it has filled the memory.
struct TooManyFeatures {};

/// Room is made for many at once, so that adding has no check of its own.
class ChunkWriter {
 public:
  ChunkWriter(const kernels::TextKernels& kernels, bool numbers) : unhashed_(kernels, numbers) {}

  /// All between is written to `chunk`, whose arrays have room behind what they hold until
  /// finish().
  void start(ExampleChunk& chunk) {
    chunk_ = &chunk;
    line_features_ = features_ = chunk.features.size();
    line_runs_ = runs_ = chunk.runs.size();
    unhashed_.drop_from(0);
    chunk.features.resize(chunk.features.capacity());
    chunk.runs.resize(chunk.runs.capacity());
  }
  void finish(bool with_names) {
    hash();
    chunk_->features.resize(features_);
    chunk_->runs.resize(runs_);
    if (with_names) chunk_->names.resize(features_);
  }

  void start_line() {
    line_features_ = features_;
    line_runs_ = runs_;
  }
  void drop_line() {
    features_ = line_features_;
    runs_ = line_runs_;
    unhashed_.drop_from(next_feature());
  }

  /// Makes room for `count` more features and as many runs.
  void reserve(std::size_t count) {
    if (features_ + count > chunk_->features.size()) {
      if (features_ - line_features_ > kMaxFeatures) throw TooManyFeatures();
      chunk_->features.resize(2 * (features_ + count));
    }
    if (runs_ + count > chunk_->runs.size()) chunk_->runs.resize(2 * (runs_ + count));
  }
  void add_feature(Feature feature) { chunk_->features[features_++] = feature; }
  void add_feature(Feature feature, FeatureName name) {
    chunk_->names.resize(chunk_->features.size());
    chunk_->names[features_] = name;
    add_feature(feature);
  }
  void add_run(NamespaceRun run) { chunk_->runs[runs_++] = run; }

  /// The next features that are not hashed yet, `count` of them at the least.
  UnhashedFeatures& unhashed(std::size_t count) {
    if (!unhashed_.has_room(count)) hash();
    return unhashed_;
  }
  /// `count` features have been written there, and the run of each to next_runs().
  void added_unhashed(std::size_t count) {
    unhashed_.added(next_feature(), static_cast<std::uint32_t>(count));
    features_ += count;
    runs_ += count;
  }
  NamespaceRun* next_runs() { return &chunk_->runs[runs_]; }

  /// Where the next feature will be in the chunk.
  std::uint32_t next_feature() const { return static_cast<std::uint32_t>(features_); }
  // The line at hand.
  bool has_too_many_features() const { return features_ - line_features_ > kMaxFeatures; }
  std::uint32_t runs_begin() const { return static_cast<std::uint32_t>(line_runs_); }
  std::uint32_t runs_end() const { return static_cast<std::uint32_t>(runs_); }
  NamespaceRun& run(std::uint32_t index) { return chunk_->runs[index]; }

 private:
  void hash() { unhashed_.hash_into(chunk_->features.data()); }

  ExampleChunk* chunk_ = nullptr;
  std::size_t features_ = 0, runs_ = 0;            ///< written to the chunk
  std::size_t line_features_ = 0, line_runs_ = 0;  ///< before this line
  UnhashedFeatures unhashed_;
};

}  // namespace leveret::text
