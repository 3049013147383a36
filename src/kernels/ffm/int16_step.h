/// Functions that all steps of 16-bit weights share. They move codes, and do not know the unit.
#pragma once

#include "kernels/ffm/int16_factor.h"
#include "kernels/lanes.h"

namespace leveret::kernels::generic {

/// Noise of words, another one for each side of a tile or block, and of a register of floats, which
/// all of a call share: uniform over the calls.
template <class Isa>
struct WordNoise {
  using V = typename Isa::V;
  LaneNoise<Isa> words;
  V floats;

  explicit WordNoise(std::uint32_t seed) : words(seed) {
    using U = Lanes32<Isa>;
    const U other = words.lanes * U(0xc2b2ae35u);
    floats = bits_cast<V>((other >> 9) | U(0x3f800000u)) - V(1.0f);
  }
  typename Isa::Words::W next() { return words.next(); }
  /// A seed for what goes number by number.
  std::uint32_t next_seed() { return words.next().get(0); }
};

/// The step of a pair of slots, of whatever size (int16_factor.h); where it is not finite, nothing
/// moves.
template <class Isa>
inline void move_pair(Fixed16* own, Fixed16* other, std::size_t k, float own_step, float other_step,
                      std::uint32_t& noise) {
  for (std::size_t c = 0; c < k; ++c) {
    const float a = own[c].code, b = other[c].code;
    if (own_step * 0 == 0) {
      own[c] = round_to_fixed<Fixed16>(a - own_step / kStepScale * b, noise += 0x9e3779b9u);
    }
    if (other_step * 0 == 0) {
      other[c] = round_to_fixed<Fixed16>(b - other_step / kStepScale * a, noise += 0x9e3779b9u);
    }
  }
}

}  // namespace leveret::kernels::generic
