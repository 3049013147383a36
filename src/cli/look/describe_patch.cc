#include "cli/look/describe_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/look/describe.h"
#include "modelfile/model_line.h"
#include "patch/patch.h"

namespace leveret::cli {
namespace {

using Json = nlohmann::ordered_json;

Json end_to_json(const patch::PatchEnd& end) {
  Json json = {{"fingerprint", store::to_hex(end.fingerprint)}, {"bytes", end.bytes}};
  json["sequence"] = end.sequence == patch::kNoSequence ? Json() : Json(end.sequence);
  return json;
}

Json keys_to_json(const patch::PatchDescription& patch) {
  Json list = Json::array();
  for (const patch::PatchDescription::Keys& keys : patch.keys) {
    Json json = {{"name", keys.name}, {"bytes", keys.bytes}};
    json["by_position"] = keys.summary.by_position;
    if (!keys.summary.by_position) {
      json["old_keys"] = keys.summary.old_keys;
      json["deleted"] = keys.summary.deleted;
      json["moved"] = keys.summary.moved;
      json["inserted"] = keys.summary.inserted;
      json["changed"] = keys.summary.changed;
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json sections_to_json(const patch::PatchDescription& patch) {
  Json list = Json::array();
  for (const patch::PatchDescription::Section& section : patch.sections) {
    list.push_back({{"name", section.name},
                    {"dtype", store::dtype_name(section.dtype)},
                    {"codes", section.codes},
                    {"changes", section.changes},
                    {"fresh_rows", section.fresh_rows},
                    {"bytes", section.bytes}});
  }
  return list;
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.2f} %", 100 * part / whole) : std::string("-");
}

std::string end_text(const Json& end) {
  std::string text = fmt::format("{}, {} bytes", end["fingerprint"].get<std::string>(),
                                 end["bytes"].get<std::uint64_t>());
  if (!end["sequence"].is_null()) {
    text += fmt::format(", sequence {}", end["sequence"].get<std::uint64_t>());
  }
  return text;
}

void add_keys(const Json& keys, std::string& to) {
  if (keys.empty()) return;
  to += fmt::format("\nKeys\n  {:<24} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "name",
                    "before", "deleted", "moved", "inserted", "changed", "bytes");
  for (const Json& one : keys) {
    to += fmt::format("  {:<24}", printable(one["name"].get<std::string>()));
    for (const char* figure : {"old_keys", "deleted", "moved", "inserted", "changed", "bytes"}) {
      to += fmt::format(" {:>10}", one.contains(figure) ? one[figure].dump() : "-");
    }
    to += one["by_position"].get<bool>() ? "  (in no order: by position)\n" : "\n";
  }
}

void add_sections(const Json& d, std::string& to) {
  to += fmt::format("\nSections\n  {:<24} {:<5} {:>12} {:>12} {:>9} {:>10} {:>10}\n", "name",
                    "dtype", "numbers", "changed", "", "fresh rows", "bytes");
  for (const Json& section : d["sections"]) {
    const std::string name = printable(section["name"].get<std::string>());
    const auto codes = section["codes"].get<double>(), changes = section["changes"].get<double>();
    to += fmt::format("  {:<24} {:<5} {:>12} {:>12} {:>9} {:>10} {:>10}\n",
                      name.empty() ? "(bytes)" : name, section["dtype"].get<std::string>(),
                      section["codes"].dump(), section["changes"].dump(), percent(changes, codes),
                      section["fresh_rows"].dump(), section["bytes"].dump());
  }
  if (d["of"] == "models") {
    to += fmt::format("  {} sections stay as they are\n", d["same_sections"].dump());
  }
}

}  // namespace

Json describe_patch(const std::string& path) {
  const patch::PatchDescription patch = patch::describe_patch(path);
  const bool models = patch.front.kind == patch::PatchKind::kSections;
  Json json = {{"file", path},
               {"kind", "patch"},
               {"of", models ? "models" : "bytes"},
               {"format", patch::kPatchVersion},
               {"bytes", patch.bytes},
               {"base", end_to_json(patch.front.base)},
               {"result", end_to_json(patch.front.result)}};
  if (models) {
    json["line"] = modelfile::line_text(patch.front.line);
    json["table_bytes"] = patch.table_bytes;
  }
  json["keys"] = keys_to_json(patch);
  json["sections"] = sections_to_json(patch);
  json["same_sections"] = patch.same_sections;
  return json;
}

std::string patch_text(const Json& d) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<12} {}\n", name, value);
  };
  add("file", printable(d["file"].get<std::string>()));
  add("kind",
      fmt::format("patch of {}, format {}", d["of"].get<std::string>(), d["format"].dump()));
  add("bytes", fmt::format("{}, {} of the result", d["bytes"].dump(),
                           percent(d["bytes"].get<double>(), d["result"]["bytes"].get<double>())));
  add("base", end_text(d["base"]));
  add("result", end_text(d["result"]));
  if (d.contains("line")) add("line", d["line"].get<std::string>());
  if (d.contains("table_bytes")) add("table", d["table_bytes"].dump() + " bytes");
  add_keys(d["keys"], text);
  add_sections(d, text);
  return text += "\nAll checksums are right.\n";
}

}  // namespace leveret::cli
