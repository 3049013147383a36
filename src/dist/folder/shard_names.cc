#include "dist/folder/shard_names.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

namespace leveret::dist {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifestName = "manifest.json";

/// Takes digits away, of which there is one at least.
bool skip_number(std::string_view& name) {
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  name.remove_prefix(digits);
  return digits > 0;
}

bool skip(std::string_view& name, std::string_view word) {
  if (!name.starts_with(word)) return false;
  name.remove_prefix(word.size());
  return true;
}

/// A manifest that says something else is for whoever loads the model to refuse.
void add_name(const nlohmann::json& file, std::vector<std::string>& names) {
  if (!file.is_object() || !file.contains("file") || !file["file"].is_string()) return;
  names.push_back(file["file"]);
}

void add_names_of_manifest(const std::string& path, std::vector<std::string>& names) {
  // Whoever opens a pipe waits for its writer.
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) return;
  std::ostringstream text;  // an error of reading ends the text, and throws nothing
  text << std::ifstream(path, std::ios::binary).rdbuf();
  const nlohmann::json manifest = nlohmann::json::parse(text.str(), nullptr, false);
  if (!manifest.is_object()) return;
  if (manifest.contains("frame")) add_name(manifest["frame"], names);
  if (!manifest.contains("shards") || !manifest["shards"].is_array()) return;
  for (const nlohmann::json& shard : manifest["shards"]) add_name(shard, names);
}

}  // namespace

bool is_of_a_save(std::string_view name) {
  if (!skip_number(name) || !skip(name, ".")) return false;
  if (!skip(name, "frame") && !(skip(name, "shard-") && skip_number(name))) return false;
  return name == ".lvt";
}

bool is_in_a_model(std::string_view name) { return name == kManifestName || is_of_a_save(name); }

std::vector<std::string> names_in_model(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (is_in_a_model(name)) names.push_back(std::move(name));
  }
  if (std::ranges::find(names, kManifestName) != names.end()) {
    add_names_of_manifest((fs::path(folder) / kManifestName).string(), names);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace leveret::dist
