#include "cli/look/describe_shards.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/look/describe.h"
#include "dist/folder/shard_files.h"
#include "train/position_json.h"

namespace leveret::cli {

using Json = nlohmann::ordered_json;

Json describe_shards(const std::string& path) {
  const dist::ShardFolder folder(path);
  Json json = {
      {"file", path}, {"kind", "folder of shards"},        {"format", dist::ShardFolder::kVersion},
      {"bytes", 0},   {"generation", folder.generation()}, {"shards", folder.shards()}};
  if (folder.position()) json["input"] = train::to_json(*folder.position());
  json["spec"] = spec_to_json(folder.spec());
  std::uint64_t bytes = 0;
  Json files = Json::array();
  for (std::size_t i = 0; i < folder.files().size(); ++i) {
    const store::ModelFile file = folder.open(i);
    for (const store::StoredSection& section : file.sections()) file.verify(section);
    bytes += file.bytes();
    files.push_back({{"file", folder.files()[i].name},
                     {"bytes", file.bytes()},
                     {"fingerprint", folder.files()[i].fingerprint}});
  }
  json["bytes"] = bytes;
  json["files"] = std::move(files);
  return json;
}

std::string input_text(const Json& input) {
  std::string names;
  for (const Json& name : input["data"]) {
    if (!names.empty()) names += ' ';
    names += printable(name.get<std::string>());
  }
  const auto pass = input["pass"].get<std::uint64_t>();
  return fmt::format(
      "{} examples{} of {}{}", input["examples"].dump(),
      pass > 0 ? fmt::format(", in pass {},", pass + 1) : "",
      names.empty() ? "standard input" : names,
      input["ended"].get<bool>() ? ", which were all" : "; train --resume continues after them");
}

std::string shard_files_text(const Json& files) {
  std::string text = fmt::format("\nFiles\n  {:<24} {:>14} {}\n", "name", "bytes", "fingerprint");
  for (const Json& file : files) {
    text += fmt::format("  {:<24} {:>14} {}\n", printable(file["file"].get<std::string>()),
                        file["bytes"].dump(), file["fingerprint"].get<std::string>());
  }
  return text + fmt::format("\nAll checksums are right ({} files).\n", files.size());
}

}  // namespace leveret::cli
