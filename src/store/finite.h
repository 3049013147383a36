/// The check that stands between a model whose training has gone wrong and its file.
#pragma once

#include <cstddef>
#include <span>

#include "store/section.h"

namespace leveret::store {

/// How many values are NaN or infinite. At the speed of memory.
std::size_t count_non_finite(std::span<const float> values);
/// The same of an array of a file. Whole numbers are finite.
std::size_t count_non_finite(Dtype dtype, std::span<const std::byte> array);

}  // namespace leveret::store
