/// Floats compared bit by bit.
#pragma once

#include <bit>
#include <cstdint>

namespace leveret::dist {

inline std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace leveret::dist
