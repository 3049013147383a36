/// `--tower`: towers over embeddings, as text.
#pragma once

#include <string>

#include "model/spec.h"

namespace leveret::model {

/// The word of a kind: mlp, fm, fwfm, cross, cross2.
const char* word_of(block::TowerKind kind);

/// KIND[:key=value,…], several of them separated by spaces; "none" or nothing: no tower. The
/// others of the spec stay. Each is called by its kind and its place: mlp_1, fwfm_2.
/// std::runtime_error says what is wrong.
void set_embedding_towers(Spec& spec, const std::string& text);

/// A text that set_embedding_towers takes back to the same, with all that is left to defaults said.
std::string get_embedding_towers(const Spec& spec);

}  // namespace leveret::model
