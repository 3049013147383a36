#include "train/position_json.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace leveret::train {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void bad_key(const char* key, const char* expected) {
  throw std::runtime_error(fmt::format("\"{}\" is missing or is not {}", key, expected));
}

const Json& find(const Json& object, const char* key, const char* expected) {
  const auto found = object.find(key);
  if (found == object.end()) bad_key(key, expected);
  return *found;
}

std::uint64_t whole(const Json& object, const char* key, std::uint64_t most) {
  const Json& value = find(object, key, "a whole number");
  // JSON's numbers are whole where they have no point; a converted -1 or 1.5 would be another one.
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
    bad_key(key, "a whole number");
  }
  return value.get<std::uint64_t>();
}

}  // namespace

Json to_json(const InputPosition& position) {
  Json json = {{"data", position.data},
               {"pass", position.pass},
               {"examples", position.examples},
               {"checksum", position.checksum},
               {"ended", position.ended}};
  if (position.is_lines) json["lines"] = true;
  return json;
}

InputPosition position_from_json(const Json& json) {
  if (!json.is_object()) bad_key("input", "a place in an input");
  InputPosition position;
  const Json& data = find(json, "data", "a list");
  if (!data.is_array()) bad_key("data", "a list");
  for (const Json& name : data) {
    if (!name.is_string()) bad_key("data", "a list of names");
    position.data.push_back(name.get<std::string>());
  }
  position.pass =
      static_cast<std::uint32_t>(whole(json, "pass", std::numeric_limits<std::uint32_t>::max()));
  position.examples = whole(json, "examples", std::numeric_limits<std::uint64_t>::max());
  const Json& checksum = find(json, "checksum", "a text");
  if (!checksum.is_string()) bad_key("checksum", "a text");
  position.checksum = checksum.get<std::string>();
  const Json& ended = find(json, "ended", "true or false");
  if (!ended.is_boolean()) bad_key("ended", "true or false");
  position.ended = ended.get<bool>();
  if (!json.contains("lines")) return position;
  if (!json["lines"].is_boolean()) bad_key("lines", "true or false");
  position.is_lines = json["lines"].get<bool>();
  return position;
}

}  // namespace leveret::train
