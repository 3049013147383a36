/// A run's place in its input and in its passes, as they stand in files: members `input` and
/// `held_out` of JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "train/held_out.h"
#include "train/input_position.h"

namespace leveret::train {

nlohmann::ordered_json to_json(const InputPosition& position);
nlohmann::ordered_json to_json(const BestPass& best);
// store::BadJson says which key is missing or is not what it has to be, whatever `json` is.
InputPosition position_from_json(const nlohmann::ordered_json& json);
BestPass best_pass_from_json(const nlohmann::ordered_json& json);

}  // namespace leveret::train
