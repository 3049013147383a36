/// The content of a file of leveret, or of a folder of shards, as JSON: what `inspect` prints,
/// plain or laid out as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "spec/spec.h"

namespace leveret::cli {

/// Verifies every checksum of the file. Throws std::runtime_error that names the file and says
/// what is wrong with it.
nlohmann::ordered_json describe_file(const std::string& path);

/// The same for people: what there is most of in a few lines, so that a model fits on a screen, or
/// all of it.
enum class Detail { kSummary, kAll };
std::string description_text(const nlohmann::ordered_json& description, Detail detail);

/// Options by their names.
nlohmann::ordered_json spec_to_json(const spec::Spec& spec);

/// A value for people.
std::string plain(const nlohmann::ordered_json& value);

/// Names come from data: no byte of them may steer a terminal.
std::string printable(const std::string& text);

}  // namespace leveret::cli
