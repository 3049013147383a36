/// A model, or two beside each other, over the same labelled lines: what gates and `leveret
/// compare` ask.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/scores.h"
#include "metrics/slices.h"
#include "model/model.h"
#include "text/example.h"

namespace leveret::publish {

/// One thread's. Each model reads the text in its own way (hash, transforms, limits of a line).
class Judge {
 public:
  struct Options {
    std::string by = {};  ///< a namespace whose text is the slice of a line; empty: none
    std::uint32_t max_line = 1u << 30;
  };

  /// One or two models.
  Judge(const std::vector<std::shared_ptr<const model::Model>>& models, Options options);
  ~Judge();
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  /// A chunk of lines that are not parsed yet (stream::LineSource). It is parsed as the first model
  /// does: bad lines are in it, and nothing else where it is one that is too long.
  /// std::runtime_error for a line that one of two models cannot read.
  void add(text::ExampleChunk& lines);

  const metrics::Scores& scores() const { return scores_; }
  metrics::Scores take_scores() { return std::move(scores_); }
  /// Whether a line had a feature of the namespace `by`.
  bool has_slices() const { return has_slices_; }
  static constexpr const char* kNoSlice = "(none)";  ///< of lines without such a feature
  metrics::Slices take_slices() { return std::move(slices_); }

 private:
  struct Side;
  void add(const text::ExampleChunk& chunk, std::size_t example);
  std::string slice_of(const text::ExampleChunk& chunk, const text::Example& example);

  const Options options_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::uint32_t by_ = 0;  ///< its id among the first side's names
  metrics::Scores scores_;
  metrics::Slices slices_;
  bool has_slices_ = false;
};

}  // namespace leveret::publish
