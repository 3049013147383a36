#include "stream/held_out_source.h"

#include <cstddef>

namespace leveret::stream {

bool HeldOutSource::next(text::ExampleChunk& chunk) {
  std::uint64_t before = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!source_->next(chunk)) return false;
    if (whole_) whole_(chunk);
    before = examples_;
    examples_ += chunk.examples.size();
  }
  take_out(chunk, before);
  return true;
}

/// `before`: examples of the stream before the chunk.
void HeldOutSource::take_out(text::ExampleChunk& chunk, std::uint64_t before) const {
  std::size_t kept = 0;
  for (const text::Example& example : chunk.examples) {
    const bool is_held_out = ++before % period_ == 0;
    if (is_held_out == (part_ == Part::kHeldOut)) chunk.examples[kept++] = example;
  }
  chunk.blank_lines += chunk.examples.size() - kept;
  chunk.examples.resize(kept);
}

}  // namespace leveret::stream
