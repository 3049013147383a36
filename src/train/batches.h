/// How many examples the next batch has: batches grow with the stream, so that early on, when each
/// example changes much, the next one is told by what it has taught.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "spec/spec.h"

namespace leveret::train {

/// After n examples: B_n = clamp(n / batch_warmup, 1, batch_size), and while that is less than
/// batch_size, no further than to the next multiple of it. So all that matters of the past is n,
/// and a run that is cut at such a multiple goes on as if it had not been.
inline std::size_t batch_after(std::uint64_t examples, const spec::Spec& spec) {
  const std::uint64_t most = spec.batch_size;
  if (spec.batch_warmup == 0 || examples / spec.batch_warmup >= most) return most;
  const std::uint64_t grown = std::max<std::uint64_t>(examples / spec.batch_warmup, 1);
  return std::min(grown, most - examples % most);
}

}  // namespace leveret::train
