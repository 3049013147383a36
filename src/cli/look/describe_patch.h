/// The content of a patch, for `inspect`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/look/describe.h"

namespace leveret::cli {

/// Verifies every checksum of the patch. Throws std::runtime_error.
nlohmann::ordered_json describe_patch(const std::string& path);

/// The same for people: shard by shard, or section by section.
std::string patch_text(const nlohmann::ordered_json& description, Detail detail);

}  // namespace leveret::cli
