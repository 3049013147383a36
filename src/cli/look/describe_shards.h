/// The content of a folder of shards, for `inspect`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace leveret::cli {

/// Verifies every checksum of the files that the manifest names, and that they are those that it
/// means. Throws std::runtime_error.
nlohmann::ordered_json describe_shards(const std::string& folder);

/// Its members "input" and "files" for people.
std::string input_text(const nlohmann::ordered_json& input);
std::string shard_files_text(const nlohmann::ordered_json& files);

}  // namespace leveret::cli
