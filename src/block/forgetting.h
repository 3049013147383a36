/// How fast a model with mixed heads forgets, so that it keeps up with a stream that changes: what
/// is learned fast has a memory of so many examples as it takes to say as much as some number of
/// even bets.
///
/// Functions of the running base rate and the number of examples alone: the same for a batch, a
/// thread or a rank that has those.
#pragma once

#include <algorithm>
#include <cmath>

#include "block/config.h"
#include "tape/parameters.h"

namespace leveret::block {

/// phi, the share of the past that one example takes away: a window of some 1,000 examples of even
/// odds, of more where clicks are rare or the rule, as each says less then; and never less than an
/// eighth of the stream, so that a long one that does not change still settles. Without the fast
/// head, what mixers always forget: a window of 2,000.
inline double forgotten_share(const tape::Scalars& scalars, const Config& config) {
  if (!config.fast_head) return 0.0005;
  const double rate = scalars.clicks / scalars.count;
  const double says = 4 * rate * (1 - rate);
  return std::min(0.001 * says, 8 / (static_cast<double>(scalars.examples) + 1));
}

/// What AdaGrad's sums of the dense layers keep for each example.
inline float decay_of_sums(const tape::Scalars& scalars, const Config& config) {
  return config.fast_head ? static_cast<float>(1 - forgotten_share(scalars, config)) : 1.0f;
}

/// The most sights that a feature's counts stand for. A float stops counting at 2^24.
inline float most_sights(const tape::Scalars& scalars, const Config& config) {
  constexpr double kFew = 5000, kFloat = 0x1p22;
  if (!config.fast_head) return static_cast<float>(kFloat);
  return static_cast<float>(std::clamp(scalars.count / 8, kFew, kFloat));
}

}  // namespace leveret::block
