/// How evenly the experts of mixtures are used (block/module/experts_module.h).
#pragma once

#include <string>
#include <vector>

#include "tape/parameters.h"

namespace leveret::cli {

struct ExpertsLoad {
  std::string module;          ///< dhen_1.layer0.experts
  std::vector<double> shares;  ///< of each expert, over all examples that were learned from; sum 1
};

/// Of each mixture; empty: there is none, or nothing has been learned.
std::vector<ExpertsLoad> experts_load(const tape::Parameters& parameters);

}  // namespace leveret::cli
