/// The check that stands between a model whose training has gone wrong and its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leveret::store {

/// How many values are NaN or infinite. At the speed of memory.
std::size_t count_non_finite(std::span<const float> values);
/// The same among numbers of IEEE 754 binary16.
std::size_t count_non_finite_halves(std::span<const std::uint16_t> values);

}  // namespace leveret::store
