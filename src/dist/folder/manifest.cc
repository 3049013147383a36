#include "dist/folder/manifest.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "train/position_json.h"

namespace leveret::dist {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "leveret shards";

[[noreturn]] void bad(const std::string& what) {
  throw std::runtime_error(what + "; it is damaged: take it from a copy, or save the model again");
}

[[noreturn]] void bad_key(const std::string& key, const char* expected) {
  bad(fmt::format("\"{}\" is missing or is not {}", key, expected));
}

/// What an object has by this name; null where it has none.
const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() ? &*found : nullptr;
}

std::uint64_t whole(const Json& object, const char* key, std::uint64_t most) {
  const Json* const value = find(object, key);
  // JSON's numbers are whole where they have no point; a converted -1 or 1.5 would be another one.
  if (value == nullptr || !value->is_number_unsigned() || value->get<std::uint64_t>() > most) {
    bad_key(key, "a whole number");
  }
  return value->get<std::uint64_t>();
}

const std::string& text(const Json& object, const char* key) {
  const Json* const value = find(object, key);
  if (value == nullptr || !value->is_string()) bad_key(key, "a text");
  return value->get_ref<const std::string&>();
}

const Json& list(const Json& object, const char* key) {
  const Json* const value = find(object, key);
  if (value == nullptr || !value->is_array()) bad_key(key, "a list");
  return *value;
}

Json to_json(const ManifestFile& file) {
  return {{"file", file.name}, {"fingerprint", file.fingerprint}};
}

ManifestFile file_from(const Json& json, const std::string& key) {
  if (!json.is_object()) bad_key(key, "a file and its fingerprint");
  ManifestFile file = {text(json, "file"), text(json, "fingerprint")};
  const std::string_view never("/\0", 2);
  if (file.name.empty() || file.name.find_first_of(never) != std::string::npos) {
    bad(fmt::format("\"{}\" names a file that is not in the folder", key));
  }
  return file;
}

/// Messages say what to do about a damaged manifest.
train::InputPosition position_from(const Json& json) {
  try {
    return train::position_from_json(json);
  } catch (const std::runtime_error& error) {
    bad(error.what());
  }
}

Json parse(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    bad(text.empty() ? std::string("is empty")
                     : fmt::format("is no JSON from byte {} of {} on", error.byte, text.size()));
  }
}

void check_format(const Json& json) {
  const Json* const format = json.is_object() ? find(json, "format") : nullptr;
  if (format == nullptr || *format != kFormat) {
    throw std::runtime_error(
        "is not a manifest that leveret-mpi has written; name a folder that leveret-mpi train -f "
        "has made");
  }
  const std::uint64_t version = whole(json, "version", std::numeric_limits<std::uint64_t>::max());
  if (version == Manifest::kVersion) return;
  throw std::runtime_error(fmt::format(
      "is of version {}, and this program knows version {}; {}", version, Manifest::kVersion,
      version > Manifest::kVersion ? "it was made by a newer leveret-mpi: update this one"
                                   : "it is damaged"));
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  Json json = {
      {"format", kFormat}, {"version", Manifest::kVersion}, {"generation", manifest.generation}};
  if (manifest.position) json["input"] = train::to_json(*manifest.position);
  json["frame"] = to_json(manifest.files.at(0));
  json["shards"] = Json::array();
  for (std::size_t i = 1; i < manifest.files.size(); ++i) {
    json["shards"].push_back(to_json(manifest.files[i]));
  }
  // Names of files may be no UTF-8, which JSON has to be.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Manifest manifest_from_text(const std::string& text) {
  const Json json = parse(text);
  check_format(json);
  Manifest manifest;
  manifest.generation = whole(json, "generation", std::numeric_limits<std::uint64_t>::max() - 1);
  const Json* const frame = find(json, "frame");
  if (frame == nullptr) bad_key("frame", "a file and its fingerprint");
  manifest.files.push_back(file_from(*frame, "frame"));
  for (const Json& shard : list(json, "shards")) {
    manifest.files.push_back(file_from(shard, "shards"));
  }
  if (manifest.files.size() < 2) bad("names no shards");
  if (const Json* const input = find(json, "input")) manifest.position = position_from(*input);
  return manifest;
}

}  // namespace leveret::dist
