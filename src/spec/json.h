/// The model's spec as the JSON text of the file header (man/leveret-model.5, "HEADER").
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "spec/spec.h"

namespace leveret::spec {

nlohmann::ordered_json to_json(const Spec& spec);

/// Throws std::runtime_error naming the key that is missing (keys that older files do not have may
/// be), unknown, of the wrong kind or out of range.
Spec spec_from_json(const nlohmann::ordered_json& json);

nlohmann::ordered_json to_json(const std::vector<feature::NamespacePlan>& plans);
std::vector<feature::NamespacePlan> plans_from_json(const nlohmann::ordered_json& json);

}  // namespace leveret::spec
