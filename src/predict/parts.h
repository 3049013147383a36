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
  to.name_limit =
      to.examples.empty() ? chunk.name_limit : std::max(to.name_limit, chunk.name_limit);
  to.examples.push_back(part);
  to.source = chunk.source;
}

inline void append_whole(const text::ExampleChunk& chunk, const text::Example& example,
                         text::ExampleChunk& to) {
  append_part(chunk, example, to, [](std::uint32_t) { return true; });
}

/// Whether those runs of an example that wanted(name) wants are the very runs of `part`, which is
/// one of another chunk.
template <class Wanted>
bool is_part(const text::ExampleChunk& parts, const text::Example& part,
             const text::ExampleChunk& chunk, const text::Example& example, const Wanted& wanted) {
  const auto same_feature = [](const text::Feature& a, const text::Feature& b) {
    return a.hash == b.hash && a.value == b.value;
  };
  std::uint32_t at = part.runs_begin;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const text::NamespaceRun& run = chunk.runs[r];
    if (!wanted(run.name)) continue;
    if (at == part.runs_end) return false;
    const text::NamespaceRun& old = parts.runs[at++];
    if (old.name != run.name || old.hash != run.hash) return false;
    const text::Feature* const features = chunk.features.data();
    const text::Feature* const old_features = parts.features.data();
    if (!std::equal(features + run.begin, features + run.end, old_features + old.begin,
                    old_features + old.end, same_feature)) {
      return false;
    }
  }
  return at == part.runs_end;
}

}  // namespace leveret::predict
