/// The check that stands between a model whose training has gone wrong and its file.
#pragma once

#include <cstddef>
#include <span>

namespace leveret::store {

/// How many values are NaN or infinite. At the speed of memory.
std::size_t count_non_finite(std::span<const float> values);

}  // namespace leveret::store
