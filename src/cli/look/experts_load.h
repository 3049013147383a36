/// How evenly the experts of mixtures are used (block/module/experts_module.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tape/parameters.h"

namespace leveret::cli {

struct ExpertsLoad {
  std::string module;          ///< dhen_1.layer0.experts
  std::vector<double> shares;  ///< of each expert, over all examples that were learned from; sum 1
};

/// The load of each mixture; empty: there is none, or nothing has been learned.
std::vector<ExpertsLoad> experts_load(const tape::Parameters& parameters);

/// " 50.0 % 25.0 % 25.0 %".
std::string shares_text(std::span<const double> shares);
/// {MODULE: [share, …], …}; null where there is none.
nlohmann::ordered_json experts_json(const tape::Parameters& parameters);

}  // namespace leveret::cli
