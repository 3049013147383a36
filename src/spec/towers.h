/// The towers of a model as the header has them (man/leveret-model.5, "HEADER"), and what they
/// read.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spec/spec.h"

namespace leveret::spec {

/// What a tower may stand over, by in=WORD: a tensor, or block::kMergedInputs.
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

/// The fields over whose embeddings a tower stands, ascending; empty: all. std::runtime_error
/// naming a namespace that no --field has.
std::vector<std::uint32_t> chosen_fields(const Spec& spec, const TowerSpec& tower);

/// std::runtime_error naming a tower that reads what the model lacks, or that cannot be in it.
void check_towers(const Spec& spec);

}  // namespace leveret::spec
