/// The towers of a model as the header has them (man/leveret-model.5, "HEADER").
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model/spec.h"

namespace leveret::model {

/// A list of {kind, name, inputs, options}; empty where the towers are those that the other options
/// of a model have always meant.
nlohmann::ordered_json towers_to_json(const Spec& spec);

/// From such a list; all other options are set. std::runtime_error where this program would not
/// write it so.
void set_towers(Spec& spec, const nlohmann::ordered_json& towers);

/// std::runtime_error naming a tower that reads what the model lacks, or that has layers or a name
/// that cannot be.
void check_towers(const Spec& spec);

}  // namespace leveret::model
