#include "predict/cached_context.h"

#include "predict/parts.h"

namespace leveret::predict {
namespace {

template <class Vector>
std::size_t bytes_of(const Vector& vector) {
  return vector.capacity() * sizeof vector[0];
}

}  // namespace

std::size_t CachedContext::size_bytes() const {
  std::size_t bytes = sizeof *this + features.size_bytes() + bytes_of(shared_spaces);
  bytes += bytes_of(seen.unknown);
  bytes += bytes_of(sums) + bytes_of(parts);
  for (const auto& part : parts) bytes += part != nullptr ? part->bytes() : 0;
  return bytes;
}

bool has_features_of(const CachedContext& context, const text::ExampleChunk& chunk,
                     const text::Example& example) {
  const text::ExampleChunk& features = context.features;
  return !features.examples.empty() && is_part(features, features.examples[0], chunk, example,
                                               [](std::uint32_t) { return true; });
}

}  // namespace leveret::predict
