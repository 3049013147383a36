/// Members of JSON that somebody else may have written. What is not as it has to be is BadJson,
/// which says what, and leaves it to the caller to say of which file, and what to do.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

namespace leveret::store {

struct BadJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// "KEY" is missing or is not EXPECTED.
[[noreturn]] void bad_member(const std::string& key, const char* expected);

nlohmann::ordered_json parse_json(const std::string& text);

// Members of an object.

/// Null where it has none of this name.
const nlohmann::ordered_json* find(const nlohmann::ordered_json& object, const char* key);
std::uint64_t whole(const nlohmann::ordered_json& object, const char* key,
                    std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
const std::string& text(const nlohmann::ordered_json& object, const char* key);
bool truth(const nlohmann::ordered_json& object, const char* key);
const nlohmann::ordered_json& list(const nlohmann::ordered_json& object, const char* key);

}  // namespace leveret::store
