/// What `train` tells of the batch size that a name of --model stands for.
#pragma once

#include "spec/spec.h"

namespace leveret::cli {

/// Says it where the name sets a batch size, and the model has that one.
void tell_of_named_batch(const spec::Spec& spec);

}  // namespace leveret::cli
