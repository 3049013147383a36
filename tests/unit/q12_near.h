/// How far a number that is rounded to 16 bits may be from itself.
#pragma once

#include "kernels/q12.h"

namespace leveret {

/// Rounded stochastically, it is one of the two multiples of the unit around it. Kernels that
/// take pairs as integers add what factors of 15 bits and roots of 14 are off (pairs_q12_body.h).
inline constexpr double kQ12Near = 1.25 * double{kernels::kQ12Unit};

/// The same of an accumulator, in shares of it: one of the two numbers of 8 bits around it.
inline constexpr double kBf16Near = 0x1p-7;

}  // namespace leveret
