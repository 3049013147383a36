/// What `train` tells of the batch size that a name of --model stands for.
#pragma once

#include "spec/spec.h"

namespace leveret::cli {

/// Where the name sets one, and the model has it.
void tell_of_named_batch(const spec::Spec& spec);

}  // namespace leveret::cli
