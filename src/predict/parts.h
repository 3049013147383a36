/// Copies of examples, or of parts of them, from chunk to chunk. What is copied are features: bytes
/// are not, and names of features are not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "text/example.h"

namespace leveret::predict {

/// Appends an example with those runs of this one that wanted(name) wants.
template <class Wanted>
void append_part(const text::ExampleChunk& chunk, const text::Example& example,
                 text::ExampleChunk& to, const Wanted& wanted) {
  text::Example part = example;
  part.runs_begin = static_cast<std::uint32_t>(to.runs.size());
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    text::NamespaceRun run = chunk.runs[r];
    if (!wanted(run.name)) continue;
    const std::size_t begin = to.features.size(), count = run.end - run.begin;
    to.features.resize(begin + count);
    std::copy_n(chunk.features.data() + run.begin, count, to.features.data() + begin);
    run.begin = static_cast<std::uint32_t>(begin);
    run.end = static_cast<std::uint32_t>(begin + count);
    to.runs.push_back(run);
  }
  part.runs_end = static_cast<std::uint32_t>(to.runs.size());
  to.examples.push_back(part);
  to.name_limit = chunk.name_limit;
  to.source = chunk.source;
}

inline void append_whole(const text::ExampleChunk& chunk, const text::Example& example,
                         text::ExampleChunk& to) {
  append_part(chunk, example, to, [](std::uint32_t) { return true; });
}

}  // namespace leveret::predict
