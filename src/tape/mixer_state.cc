#include "tape/mixer_state.h"

#include <algorithm>

namespace leveret::tape {

void bound_shares(std::span<float> log_share) {
  float best = -1e30f;
  for (const float share : log_share) best = std::max(best, share);
  for (float& share : log_share) share = std::max(share - best, kLeastShare);
}

}  // namespace leveret::tape
