/// The towers of a model as the header has them (man/leveret-model.5, "HEADER"), and what they
/// read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "model/spec.h"

namespace leveret::model {

/// A tensor that a tower may stand over: in=WORD.
struct TowerInput {
  const char* word;
  const char* tensor;
  bool (*is_there)(const Spec& spec);
  const char* help;     ///< one line
  const char* missing;  ///< what a model without it is told
};
std::span<const TowerInput> tower_inputs();
/// Null: there is none of this word.
const TowerInput* find_input(std::string_view word);

/// A list of {kind, name, inputs, options}; empty where the towers are those that the other options
/// of a model have always meant.
nlohmann::ordered_json towers_to_json(const Spec& spec);

/// From such a list; all other options are set. std::runtime_error where this program would not
/// write it so.
void towers_from_json(Spec& spec, const nlohmann::ordered_json& towers);

/// std::runtime_error naming a tower that reads what the model lacks, or that cannot be in it.
void check_towers(const Spec& spec);

}  // namespace leveret::model
