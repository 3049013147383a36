/// The check that stands between numbers that have gone wrong and a model's file, and between a
/// file and who believes it.
#pragma once

#include <cstddef>

#include "model/model.h"

namespace leveret::modelfile {

/// Learned numbers that are NaN or infinite. At the speed of memory.
std::size_t count_non_finite(const model::Model& model);
std::size_t count_non_finite(const table::Tables& tables);
std::size_t count_non_finite(const tape::Parameters& parameters);

}  // namespace leveret::modelfile
