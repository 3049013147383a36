/// The parts of a description of a model that are long, in a few lines each: `inspect` without
/// --all.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace leveret::cli {

/// The columns that a line of a screen takes.
constexpr std::size_t kScreen = 80;
/// Cut at a whole character (UTF-8) where it has more than so many bytes.
std::string shortened(std::string text, std::size_t bytes);

/// Each begins with an empty line, and no line is wider than 80 columns. All are members of
/// describe_file's object.

/// Options that are not what a new model has.
std::string options_summary(const nlohmann::ordered_json& spec);

/// Those with most features. `pairs`: the model learns pairs of them.
std::string fields_summary(const nlohmann::ordered_json& fields, bool pairs);

/// How many sections and bytes there are of each role, and where numbers are not finite.
std::string sections_summary(const nlohmann::ordered_json& sections);

}  // namespace leveret::cli
