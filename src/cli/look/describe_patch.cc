#include "cli/look/describe_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cli/look/summary_text.h"
#include "modelfile/model_line.h"
#include "patch/patch.h"
#include "spec/json.h"
#include "text/plain_number.h"

namespace leveret::cli {
namespace {

using Json = nlohmann::ordered_json;

/// No model has more: a header that says so is damaged.
constexpr std::uint32_t kMostFields = 1u << 20;

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

/// Names of the namespaces of each field, comma separated, as the header of a model has them; none
/// where it is another file's.
std::vector<std::string> field_names(const std::string& header_json) {
  std::vector<std::string> names;
  const Json header = Json::parse(header_json, nullptr, false);
  if (!header.is_object() || !header.contains("namespaces")) return names;
  try {
    for (const feature::NamespacePlan& plan : spec::plans_from_json(header["namespaces"])) {
      for (const std::uint32_t field : plan.fields) {
        if (field >= kMostFields) continue;
        if (names.size() <= field) names.resize(field + std::size_t{1});
        names[field] += (names[field].empty() ? "" : ",") + plan.name;
      }
    }
  } catch (const std::exception&) {
    names.clear();  // what it is applied to will say what is wrong
  }
  return names;
}

/// "field.7" of "field.7.rows.0.weights"; what other parts of a model have as one.
std::string shard_of(const std::string& section) {
  const std::size_t dot = section.find('.');
  return section.substr(0, section.starts_with("field.") ? section.find('.', dot + 1) : dot);
}

constexpr const char* kOfShard[] = {"inserted", "deleted", "changes", "fresh_rows", "bytes"};

/// An untouched one.
Json shard_to_json(const std::string& shard, const std::vector<std::string>& names) {
  Json json = {{"shard", shard}};
  const auto field = text::read_whole(std::string_view(shard).substr(shard.find('.') + 1), 0,
                                      names.empty() ? 0 : names.size() - 1);
  if (shard.starts_with("field.") && field && !names.empty()) json["namespaces"] = names[*field];
  for (const char* figure : kOfShard) json[figure] = std::uint64_t{0};
  return json;
}

void add(const Json& more, Json& to) {
  for (const auto& [figure, value] : more.items()) {
    to[figure] = to[figure].get<std::uint64_t>() + value.get<std::uint64_t>();
  }
}

/// The parts of the patch by shard, in the order of the file.
Json shards_to_json(const patch::PatchDescription& patch) {
  const std::vector<std::string> names = field_names(patch.header_json);
  Json list = Json::array();
  std::map<std::string, std::size_t> places;
  const auto shard = [&](const std::string& section) -> Json& {
    const std::string name = shard_of(section);
    const auto [at, is_new] = places.try_emplace(name, list.size());
    if (is_new) list.push_back(shard_to_json(name, names));
    return list[at->second];
  };
  for (const patch::PatchDescription::Keys& keys : patch.keys) {
    Json& json = shard(keys.name);
    add({{"bytes", keys.bytes}}, json);
    if (keys.summary.by_position) continue;
    add({{"inserted", keys.summary.inserted}, {"deleted", keys.summary.deleted}}, json);
  }
  for (const patch::PatchDescription::Section& section : patch.sections) {
    add({{"changes", section.changes},
         {"fresh_rows", section.fresh_rows},
         {"bytes", section.bytes}},
        shard(section.name));
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

std::string shard_line(const std::string& name, const Json& shard, const std::string& names) {
  std::string line = fmt::format("  {:<10}", printable(name));
  for (const char* figure : kOfShard) line += fmt::format(" {:>10}", shard[figure].dump());
  if (!names.empty()) line += "  " + printable(names);
  return shortened(line, kScreen) + '\n';
}

/// Those that take most of the patch.
void add_shards(const Json& touched, std::string& to) {
  constexpr std::size_t kMost = 20;
  std::vector<const Json*> largest;
  for (const Json& shard : touched) largest.push_back(&shard);
  const auto bytes = [](const Json& shard) { return shard["bytes"].get<std::uint64_t>(); };
  std::ranges::stable_sort(largest, [&](auto* a, auto* b) { return bytes(*a) > bytes(*b); });
  to += fmt::format("\nTouched\n  {:<10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "part",
                    "new keys", "lost keys", "changes", "new rows", "bytes", "names");
  Json others = shard_to_json("", {});
  for (std::size_t i = 0; i < largest.size(); ++i) {
    const Json& shard = *largest[i];
    if (i < kMost) {
      to += shard_line(shard["shard"].get<std::string>(), shard, shard.value("namespaces", ""));
      continue;
    }
    for (const char* figure : kOfShard) add({{figure, shard[figure]}}, others);
  }
  if (largest.size() > kMost) {
    to += shard_line(fmt::format("+{}", largest.size() - kMost), others, "others");
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
  if (models) json["touched"] = shards_to_json(patch);
  return json;
}

std::string patch_text(const Json& d, Detail detail) {
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
  if (detail == Detail::kSummary && d.contains("touched")) {
    add_shards(d["touched"], text);
    return text += "\nAll checksums are right. --all shows all of it.\n";
  }
  add_keys(d["keys"], text);
  add_sections(d, text);
  return text += "\nAll checksums are right.\n";
}

}  // namespace leveret::cli
