#include "dist/folder/manifest.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "store/json_members.h"
#include "train/position_json.h"

namespace leveret::dist {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "leveret shards";

constexpr const char* kAdvice = "; it is damaged: take it from a copy, or save the model again";

Json to_json(const ManifestFile& file) {
  return {{"file", file.name}, {"fingerprint", file.fingerprint}};
}

ManifestFile file_from(const Json& json, const std::string& key) {
  if (!json.is_object()) store::bad_member(key, "a file and its fingerprint");
  ManifestFile file = {store::text(json, "file"), store::text(json, "fingerprint")};
  const std::string_view never("/\0", 2);
  if (file.name.empty() || file.name.find_first_of(never) != std::string::npos) {
    throw store::BadJson(fmt::format("\"{}\" names a file that is not in the folder", key));
  }
  return file;
}

void check_format(const Json& json) {
  const Json* const format = json.is_object() ? store::find(json, "format") : nullptr;
  if (format == nullptr || *format != kFormat) {
    throw std::runtime_error(
        "is not a manifest that leveret-mpi has written; name a folder that leveret-mpi train -f "
        "has made");
  }
  const std::uint64_t version = store::whole(json, "version");
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

Manifest manifest_from_text(const std::string& text) try {
  const Json json = store::parse_json(text);
  check_format(json);
  Manifest manifest;
  manifest.generation =
      store::whole(json, "generation", std::numeric_limits<std::uint64_t>::max() - 1);
  const Json* const frame = store::find(json, "frame");
  if (frame == nullptr) store::bad_member("frame", "a file and its fingerprint");
  manifest.files.push_back(file_from(*frame, "frame"));
  for (const Json& shard : store::list(json, "shards")) {
    manifest.files.push_back(file_from(shard, "shards"));
  }
  if (manifest.files.size() < 2) throw store::BadJson("names no shards");
  if (const Json* const input = store::find(json, "input"))
    manifest.position = train::position_from_json(*input);
  return manifest;
} catch (const store::BadJson& error) {
  throw std::runtime_error(std::string(error.what()) + kAdvice);
}

}  // namespace leveret::dist
