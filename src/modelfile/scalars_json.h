/// Learned numbers that stand in the header of a model file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "block/parameters.h"

namespace leveret::modelfile {

nlohmann::ordered_json to_json(const block::Scalars& scalars);
/// std::runtime_error when a number is missing or impossible.
block::Scalars scalars_from_json(const nlohmann::ordered_json& json);

}  // namespace leveret::modelfile
