/// Slices of scored lines by the text that they have in a namespace.
#pragma once

#include <cstdint>
#include <string>

#include "metrics/scores.h"
#include "metrics/slices.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::publish {

/// One owner.
class LineSlices {
 public:
  static constexpr const char* kNone = "(none)";  ///< of lines without the namespace

  /// `by`: the namespace; it gets an id of its own in `names`, which are not closed yet: a model
  /// need not know it. Empty: all of this does nothing. `models`: as Scores.
  LineSlices(const std::string& by, std::size_t models, text::NamespaceNames& names);

  /// An example of a chunk that has the names of its features.
  void add(const text::ExampleChunk& chunk, const text::Example& example,
           const metrics::Scores::Answers& answers);

  /// Whether a line had a feature of the namespace.
  bool has_any() const { return has_any_; }
  std::vector<metrics::Slice> largest(std::size_t most) && {
    return std::move(slices_).largest(most);
  }

 private:
  const bool wanted_;
  std::uint32_t by_ = 0;
  bool has_any_ = false;
  metrics::Slices slices_;
};

}  // namespace leveret::publish
