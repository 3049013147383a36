#include "predict/kept_context.h"

#include "predict/parts.h"

namespace leveret::predict {
namespace {

template <class Vector>
std::size_t bytes_of(const Vector& vector) {
  return vector.capacity() * sizeof vector[0];
}

}  // namespace

std::size_t KeptContext::size_bytes() const {
  std::size_t bytes = sizeof *this + features.size_bytes();
  for (const std::vector<float>* floats :
       {&group_linear, &group_counts, &group_seen, &fm_sum, &ffm.x}) {
    bytes += bytes_of(*floats);
  }
  bytes += bytes_of(shared_spaces) + bytes_of(ffm.rows) + bytes_of(ffm.sums);
  bytes += bytes_of(ffm.slots_of_rows) + bytes_of(ffm.slots_of_sums);
  return bytes + bytes_of(layer.part) + bytes_of(layer.as_they_are);
}

bool has_features_of(const KeptContext& context, const text::ExampleChunk& chunk,
                     const text::Example& example) {
  const text::ExampleChunk& features = context.features;
  return !features.examples.empty() && is_part(features, features.examples[0], chunk, example,
                                               [](std::uint32_t) { return true; });
}

}  // namespace leveret::predict
