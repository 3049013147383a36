#include "publish/line_slices.h"

#include "text/feature_text.h"

namespace leveret::publish {

LineSlices::LineSlices(const std::string& by, std::size_t models, text::NamespaceNames& names)
    : wanted_(!by.empty()), slices_(models) {
  if (wanted_) by_ = *names.intern(by);
}

void LineSlices::add(const text::ExampleChunk& chunk, const text::Example& example,
                     const metrics::Scores::Answers& answers) {
  if (!wanted_) return;
  const std::string slice = text::text_of_namespace(chunk, example, by_);
  has_any_ = has_any_ || !slice.empty();
  slices_.add(slice.empty() ? kNone : slice, answers, example.label, example.importance);
}

}  // namespace leveret::publish
