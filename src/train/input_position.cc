#include "train/input_position.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>

namespace leveret::train {

std::size_t InputWalk::pass_over(const text::ExampleChunk& chunk) {
  if (is_at_start()) return 0;
  const std::size_t count =
      std::min<std::uint64_t>(chunk.examples.size(), start_.examples - examples_);
  add(chunk, 0, count);
  if (examples_ == start_.examples && checksum() != start_.checksum) {
    throw std::runtime_error(
        fmt::format("the first {} examples are not those that the checkpoint has learned; give "
                    "the same input again, or leave out --resume to begin anew",
                    start_.examples));
  }
  return count;
}

void InputWalk::add(const text::ExampleChunk& chunk, std::size_t first, std::size_t count) {
  // In one piece an example: a checksum of few bytes takes as long as one of many.
  const auto add_bytes = [&](const auto* values, std::size_t count_of) {
    bytes_.append(reinterpret_cast<const char*>(values), count_of * sizeof(*values));
  };
  const auto add_value = [&](const auto& value) { add_bytes(&value, 1); };
  for (std::size_t i = first; i < first + count; ++i) {
    const text::Example& example = chunk.examples[i];
    bytes_.clear();
    add_value(example.label);
    add_value(example.importance);
    add_value(example.initial);
    add_value(example.runs_end - example.runs_begin);
    for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
      const text::NamespaceRun& run = chunk.runs[r];
      add_value(run.hash);
      add_value(run.end - run.begin);
      add_bytes(chunk.features.data() + run.begin, run.end - run.begin);
    }
    sum_.add(std::as_bytes(std::span(bytes_)));
  }
  examples_ += count;
}

void InputWalk::check_end() const {
  if (is_at_start()) return;
  throw std::runtime_error(
      fmt::format("the input ends after {} examples, and the checkpoint has learned {}; give the "
                  "same input again, from its start, or leave out --resume to begin anew",
                  examples_, start_.examples));
}

}  // namespace leveret::train
