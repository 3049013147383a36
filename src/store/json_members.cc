#include "store/json_members.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace leveret::store {

using Json = nlohmann::ordered_json;

void bad_member(const std::string& key, const char* expected) {
  throw BadJson(fmt::format("\"{}\" is missing or is not {}", key, expected));
}

Json parse_json(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw BadJson(text.empty()
                      ? std::string("is empty")
                      : fmt::format("is no JSON from byte {} of {} on", error.byte, text.size()));
  }
}

const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() ? &*found : nullptr;
}

std::uint64_t whole(const Json& object, const char* key, std::uint64_t most) {
  const Json* const value = find(object, key);
  // JSON's numbers are whole where they have no point; a converted -1 or 1.5 would be another one.
  if (value == nullptr || !value->is_number_unsigned() || value->get<std::uint64_t>() > most) {
    bad_member(key, "a whole number");
  }
  return value->get<std::uint64_t>();
}

const std::string& text(const Json& object, const char* key) {
  const Json* const value = find(object, key);
  if (value == nullptr || !value->is_string()) bad_member(key, "a text");
  return value->get_ref<const std::string&>();
}

bool truth(const Json& object, const char* key) {
  const Json* const value = find(object, key);
  if (value == nullptr || !value->is_boolean()) bad_member(key, "true or false");
  return value->get<bool>();
}

const Json& list(const Json& object, const char* key) {
  const Json* const value = find(object, key);
  if (value == nullptr || !value->is_array()) bad_member(key, "a list");
  return *value;
}

}  // namespace leveret::store
