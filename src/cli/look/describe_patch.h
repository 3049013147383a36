/// The content of a patch, for `inspect`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace leveret::cli {

/// Verifies every checksum of the patch. Throws std::runtime_error.
nlohmann::ordered_json describe_patch(const std::string& path);

/// The same for people.
std::string patch_text(const nlohmann::ordered_json& description);

}  // namespace leveret::cli
