/// The settings of blocks that a spec means.
#pragma once

#include <vector>

#include "block/config.h"
#include "kernels/rows/codec.h"
#include "spec/spec.h"

namespace leveret::spec {

/// `rows`: how the weights of each part of rows are stored, where not as the spec says.
block::Config config_of(const Spec& spec, const std::vector<kernels::Codec>& rows = {});

}  // namespace leveret::spec
