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
#include "model/model.h"
#include "publish/line_slices.h"
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

  /// A chunk of lines that are not parsed yet (stream::TextReader). It is parsed as the first model
  /// does: bad lines are in it, and nothing else where it is one that is too long.
  /// std::runtime_error for a line that one of two models cannot read.
  void add(text::ExampleChunk& lines);

  const metrics::Scores& scores() const { return scores_; }
  metrics::Scores take_scores() { return std::move(scores_); }
  /// By the namespace `by`.
  LineSlices& slices() { return *slices_; }

 private:
  struct Side;
  void add(const text::ExampleChunk& chunk, std::size_t example);

  const Options options_;
  std::vector<std::unique_ptr<Side>> sides_;
  metrics::Scores scores_;
  std::optional<LineSlices> slices_;  ///< of the first side's reading
};

}  // namespace leveret::publish
