/// `--tower`: towers as text.
#pragma once

#include <string>

#include "spec/spec.h"

namespace leveret::spec {

/// KIND[:key=value,…], several of them separated by spaces; "none" or nothing: no tower. Each is
/// called by its kind and its place: mlp_1, fwfm_2. std::runtime_error says what is wrong.
void set_towers(Spec& spec, const std::string& text);

/// A text that set_towers takes back to the same, with all that is left to defaults said.
std::string get_towers(const Spec& spec);

/// For --help: the kinds, each with its keys and their defaults.
std::string towers_help();
/// The page `leveret help towers`.
std::string towers_page();

}  // namespace leveret::spec
