/// Examples as text, to compare two ways to the same.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <string>

#include "stream/example_source.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::stream::testing {

/// Everything the examples of a chunk say; floats by their bits.
inline std::string describe(const text::ExampleChunk& chunk, const text::NamespaceNames& names) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  std::string all;
  for (const text::Example& e : chunk.examples) {
    all += fmt::format("{}:{} {:x} {:x} {:x} '{}'", chunk.source, e.line, bits(e.label),
                       bits(e.importance), bits(e.initial), chunk.view(e.tag_begin, e.tag_size));
    for (std::uint32_t r = e.runs_begin; r < e.runs_end; ++r) {
      const text::NamespaceRun& run = chunk.runs[r];
      all += fmt::format(" |{}/{}", names.name(run.name), run.hash);
      for (std::uint32_t f = run.begin; f < run.end; ++f) {
        all += fmt::format(" {}:{:x}", chunk.features[f].hash, bits(chunk.features[f].value));
      }
    }
    all += '\n';
  }
  for (const text::BadLine& bad : chunk.bad) {
    all += fmt::format("bad {}:{} {}\n", chunk.source, bad.line, bad.what);
  }
  return all;
}

inline std::string describe_all(ExampleSource& source, const text::NamespaceNames& names) {
  text::ExampleChunk chunk;
  std::string all;
  while (source.next(chunk)) all += describe(chunk, names);
  return all;
}

}  // namespace leveret::stream::testing
