/// Weights of 16 bits as most tests take them, and how far a number that is rounded to 16 bits may
/// be from itself.
#pragma once

#include "kernels/rows/codec.h"

namespace leveret {

inline constexpr kernels::Codec kInt16 = kernels::Codec::fixed(16, kernels::kDefaultShift);

/// Such a number, rounded stochastically, is one of the two multiples of the unit
/// around it. Kernels that take pairs as integers add what factors of 15 bits and roots of 14 are
/// off (pairs_int16_body.h). In units:
inline constexpr double kInt16NearUnits = 1.25;
inline constexpr double kInt16Near = kInt16NearUnits * double{kInt16.unit()};

/// The same of an accumulator, in shares of it: one of the two numbers of 8 bits around it.
inline constexpr double kBf16Near = 0x1p-7;

}  // namespace leveret
