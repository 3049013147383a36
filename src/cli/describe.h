/// What is in a file of leveret, as JSON: what `inspect` prints, plain or laid out as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace leveret::cli {

/// Verifies every checksum of the file. Throws std::runtime_error that names the file and says
/// what is wrong with it.
nlohmann::ordered_json describe_file(const std::string& path);

/// The same for people.
std::string description_text(const nlohmann::ordered_json& description);

/// Names come from data: no byte of them may steer a terminal.
std::string printable(const std::string& text);

}  // namespace leveret::cli
