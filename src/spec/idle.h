/// Options that would change nothing in a model, so that who gives one is told.
#pragma once

#include <string_view>

#include "spec/spec.h"

namespace leveret::spec {

/// Names what the entry `name` of spec_entries() would need to make a difference, e.g. "--optimizer
/// ftrl"; null when it makes one.
const char* idle_without(std::string_view name, const Spec& spec);

}  // namespace leveret::spec
