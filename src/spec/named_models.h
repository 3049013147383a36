/// `--model`: models that the literature has names for, each of which is nothing but options.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "spec/spec.h"

namespace leveret::spec {

struct NamedModel {
  std::string_view name;
  std::string_view options;  ///< as on the command line; later ones may override them
  std::string_view when;     ///< to take it, in a line
};

/// In the order of `leveret help models`.
std::span<const NamedModel> named_models();

/// Gives the spec the options of the model, and its name. std::runtime_error names those that there
/// are.
void set_named_model(Spec& spec, const std::string& name);

/// Whether all that the name stands for holds for the spec, by whatever options it was made.
bool is_named_model(const Spec& spec, const std::string& name);

}  // namespace leveret::spec
