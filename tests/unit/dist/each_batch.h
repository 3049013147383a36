/// Text in batches, as each rank of a test makes them for itself.
#pragma once

#include <functional>
#include <string>

#include "dist/learn/batch_maker.h"
#include "model/specs_to_test.h"
#include "text/parser.h"

namespace leveret::dist {

/// Calls learn(maker), which gives back the scores of the batch at hand, for each batch.
inline void each_batch(const spec::Spec& spec, const std::string& lines,
                       const std::function<std::span<const float>(BatchMaker&)>& learn) {
  text::NamespaceNames names;
  text::ExampleChunk chunk;
  chunk.bytes = lines;
  text::Parser(names, model::reading_numbers(spec)).parse(chunk);
  BatchMaker maker(spec, {}, 0, names);
  predict::Outcomes outcomes;
  for (std::size_t next = 0; next < chunk.examples.size();) {
    next += maker.take(chunk, next, chunk.examples.size() - next);
    if (!maker.full() && next < chunk.examples.size()) continue;
    while (maker.next()) maker.finish(learn(maker), outcomes);
  }
}

}  // namespace leveret::dist
