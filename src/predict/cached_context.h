/// What a request's candidates share, made once: what the context adds to each sum of the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/network.h"
#include "skew/seen_line.h"
#include "text/example.h"

namespace leveret::predict {

/// Made by a ContextPredictor, and good for it, and for others of the same model, names and context
/// namespaces, one thread at a time. Moved, not copied.
struct CachedContext {
  CachedContext() = default;
  CachedContext(CachedContext&&) = default;
  CachedContext& operator=(CachedContext&&) = default;

  text::ExampleChunk features;  ///< one example, or none yet
  bool cached = false;          ///< what follows is made; else candidates are scored as whole lines
  /// Hashes of its namespaces, where the counts of some are not the context's alone; in order.
  std::vector<std::uint32_t> shared_spaces;
  std::uint32_t feature_count = 0;
  skew::SeenLine seen;
  float field_features = 0, squares = 0;  ///< of features of fields, as they came
  std::vector<float> sums;                ///< what it adds to the sums of each candidate
  net::CachedParts parts;

  /// Memory of what it holds, in bytes.
  std::size_t size_bytes() const;
};

/// Whether an example has the very features of a context, in its order.
bool has_features_of(const CachedContext& context, const text::ExampleChunk& chunk,
                     const text::Example& example);

}  // namespace leveret::predict
