/// The memory and disk that `-b` takes, told before it is taken.
#pragma once

#include "spec/spec.h"

namespace leveret::cli {

/// Tells by which formula a model's hashed linear weights take memory, where it is 64 MB or more,
/// and that a table without -b grows. People bring the -b of another program, where a slot takes
/// less.
void tell_of_hashed_table(const spec::Spec& spec);

}  // namespace leveret::cli
