/// How far a weight that is rounded to fixed point may be from itself.
#pragma once

#include "kernels/q12.h"

namespace leveret {

/// Rounded stochastically, it is one of the two multiples of the unit around it. Kernels that
/// take pairs as integers add what factors of 15 bits and roots of 14 are off (pairs_q12_body.h).
inline constexpr double kQ12Near = 1.25 * double{kernels::kQ12Unit};

}  // namespace leveret
