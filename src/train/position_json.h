/// A position in an input as it stands in files: a member `input` of JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "train/input_position.h"

namespace leveret::train {

nlohmann::ordered_json to_json(const InputPosition& position);
/// store::BadJson says which key is missing or is not what it has to be, whatever `json` is.
InputPosition position_from_json(const nlohmann::ordered_json& json);

}  // namespace leveret::train
