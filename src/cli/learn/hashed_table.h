/// What `-b` costs, told before it is paid.
#pragma once

#include "model/spec.h"

namespace leveret::cli {

/// Where a model's linear weights are hashed and take 64 MB or more: by which formula, and that a
/// table without -b grows. People bring the -b of another program, where a slot takes less.
void tell_of_hashed_table(const model::Spec& spec);

}  // namespace leveret::cli
