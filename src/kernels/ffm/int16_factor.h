/// How a 16-bit weight moves by integers alone: the reasoning and its numbers. The steps themselves
/// are in int16_step.h and pairs_int16_body.h.
///
/// A weight w and the weight c that it meets are words, whole numbers of one unit; w is to become
/// w - s c for a real step s. One multiplication of words, the upper half of whose product is kept,
/// does that: with a factor f = s 2^16, w - f c / 2^16, rounded down after noise was added. But f
/// has to fit a word, so |s| < 1/2. Steps of click models are far smaller, and the few larger ones
/// are made number by number (move_pair in int16_step.h). To tell them apart cheaply, kernels carry
/// t = kStepScale s: then the bound is |t| < 2, which is one bit of a float's exponent
/// (InstructionSet::all_below_two), and f = t 2^14.
///
/// Delete it when rows have no 16-bit codec, or when real numbers take at most 5 % longer on the
/// default model. scripts/bench/instructions.sh fails where the kernels do without it.
#pragma once

#include <cstdint>

namespace leveret::kernels {

/// t / s, see above.
constexpr float kStepScale = 4;
/// f / t: 2^14, and by 6e-5 less, so that a word holds f for every |t| < 2.
constexpr float kFactorScale = 16383;
/// Products of neighbouring words are added in pairs: twice the square of the least word, -32768,
/// would not fit 32 bits. One side is bounded by this.
constexpr std::int16_t kLeastFactorWord = -32767;

}  // namespace leveret::kernels
