#include "predict/kept_context.h"

#include <algorithm>

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
  if (context.features.examples.empty()) return false;
  const text::Example& now = context.features.examples[0];
  const std::uint32_t runs = now.runs_end - now.runs_begin;
  if (example.runs_end - example.runs_begin != runs) return false;
  for (std::uint32_t r = 0; r < runs; ++r) {
    const text::NamespaceRun& run = chunk.runs[example.runs_begin + r];
    const text::NamespaceRun& old = context.features.runs[now.runs_begin + r];
    if (old.name != run.name || old.hash != run.hash) return false;
    const text::Feature* const begin = chunk.features.data() + run.begin;
    const text::Feature* const of_old = context.features.features.data();
    if (!std::equal(begin, begin + (run.end - run.begin), of_old + old.begin, of_old + old.end,
                    [](const text::Feature& a, const text::Feature& b) {
                      return a.hash == b.hash && a.value == b.value;
                    })) {
      return false;
    }
  }
  return true;
}

}  // namespace leveret::predict
