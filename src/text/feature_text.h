/// The text of features, where the parser has kept it (ParserOptions::keep_names).
#pragma once

#include <fmt/format.h>

#include <string>

#include "text/example.h"

namespace leveret::text {

/// The features of an example in a namespace, as one word: the names of its features, or, of those
/// without one, their values; a blank between two. Empty: it has none.
inline std::string text_of_namespace(const ExampleChunk& chunk, const Example& example,
                                     std::uint32_t name) {
  std::string text;
  for (std::uint32_t r = example.runs_begin; r < example.runs_end; ++r) {
    const NamespaceRun& run = chunk.runs[r];
    if (run.name != name) continue;
    for (std::uint32_t f = run.begin; f < run.end; ++f) {
      if (!text.empty()) text += ' ';
      const FeatureName& of = chunk.names[f];
      const std::string_view words = chunk.view(of.name_begin, of.name_size);
      words.empty() ? text += fmt::format("{}", chunk.features[f].value) : text += words;
      if (of.value_size > 0) (text += ':') += chunk.view(of.value_begin, of.value_size);
    }
  }
  return text;
}

}  // namespace leveret::text
