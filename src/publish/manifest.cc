#include "publish/manifest.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "store/json_members.h"
#include "text/byte_characters.h"

namespace leveret::publish {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "leveret publish";
constexpr std::string_view kChecksumKey = "\"checksum\"";
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
// One of 100,000 steps has 40 MB, and 200 bytes more for each condition of a gate. A larger file is
// none of ours, and is not read into memory.
constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 28;

constexpr const char* kAdvice =
    "; it is damaged: copy it again, or publish to another folder and name that one";

store::Checksum checksum_from(const Json& object, const char* key) {
  const std::string& digits = store::text(object, key);
  const auto half = [&](std::size_t at) {
    std::uint64_t value = 0;
    const char* const begin = digits.data() + at;
    const auto [end, error] = std::from_chars(begin, begin + 16, value, 16);
    if (error != std::errc() || end != begin + 16) store::bad_member(key, "a checksum");
    return value;
  };
  if (digits.size() != 32) store::bad_member(key, "a checksum");
  const std::uint64_t high = half(0);
  return {half(16), high};
}

/// A reader opens what a manifest names: a plain name, of this folder.
const std::string& check_name(const std::string& name) {
  const std::string_view never("/\0", 2);
  if (name.empty() || name[0] == '.' || name == Manifest::kName ||
      name.find_first_of(never) != std::string::npos) {
    throw store::BadJson("it names a file that is not one of the folder");
  }
  return name;
}

Json to_json(const Entry& entry) {
  const bool is_patch = entry.kind == Entry::Kind::kPatch;
  Json json = {{"step", entry.step},
               {"kind", is_patch ? "patch" : "full"},
               {"file", entry.file},
               {"bytes", entry.bytes},
               {"fingerprint", store::to_hex(entry.fingerprint)}};
  if (is_patch) json["base"] = store::to_hex(*entry.base);
  if (entry.model) json["model"] = store::to_hex(*entry.model);
  if (entry.sequence != modelfile::kNoSequence) json["sequence"] = entry.sequence;
  if (entry.published != 0) json["published"] = entry.published;
  for (const GateFigure& figure : entry.gates) {
    json["gates"].push_back({{"file", text::to_characters(figure.file)},
                             {"metric", figure.metric},
                             {"value", figure.value},
                             {"limit", figure.limit}});
  }
  return json;
}

std::vector<GateFigure> gates_from(const Json& json) {
  std::vector<GateFigure> gates;
  if (store::find(json, "gates") == nullptr) return gates;
  for (const Json& figure : store::list(json, "gates")) {
    if (!figure.is_object()) store::bad_member("gates", "a list of figures");
    std::optional<std::string> file = text::from_characters(store::text(figure, "file"));
    if (!file) store::bad_member("file", "a name of one byte a character");
    gates.push_back({*std::move(file), store::text(figure, "metric"), store::text(figure, "value"),
                     store::text(figure, "limit")});
  }
  return gates;
}

Entry entry_from(const Json& json) {
  if (!json.is_object()) store::bad_member("steps", "a list of files");
  Entry entry;
  entry.step = store::whole(json, "step");
  const std::string& kind = store::text(json, "kind");
  if (kind != "full" && kind != "patch") store::bad_member("kind", "full or patch");
  entry.kind = kind == "patch" ? Entry::Kind::kPatch : Entry::Kind::kFull;
  entry.file = check_name(store::text(json, "file"));
  entry.bytes = store::whole(json, "bytes");
  entry.fingerprint = checksum_from(json, "fingerprint");
  if (entry.kind == Entry::Kind::kPatch) entry.base = checksum_from(json, "base");
  if (store::find(json, "model") != nullptr) entry.model = checksum_from(json, "model");
  if (store::find(json, "sequence") != nullptr) entry.sequence = store::whole(json, "sequence");
  if (store::find(json, "published") != nullptr) entry.published = store::whole(json, "published");
  entry.gates = gates_from(json);
  return entry;
}

/// Checks what everybody relies on who looks for a way.
void check_steps(const std::vector<Entry>& entries) {
  const Entry *now = nullptr, *before = nullptr;  // of the step at hand, and of the one before
  for (const Entry& entry : entries) {
    const bool is_patch = entry.kind == Entry::Kind::kPatch;
    if (now == nullptr && is_patch) throw store::BadJson("its first step has no full file");
    if (entry.step == 0 || entry.step == kAny)
      throw store::BadJson("its steps are not numbered from 1 on");
    if (now != nullptr && entry.step == now->step) {
      if (!is_patch || now->kind == Entry::Kind::kPatch || entry.fingerprint != now->fingerprint) {
        throw store::BadJson(fmt::format("step {} has several models", entry.step));
      }
    } else {
      if (now != nullptr && entry.step != now->step + 1)
        throw store::BadJson("its steps do not follow each other");
      before = now;
      now = &entry;
    }
    if (is_patch && before != nullptr && *entry.base != before->fingerprint) {
      throw store::BadJson(
          fmt::format("the patch of step {} is not for the step before it", entry.step));
    }
  }
}

/// The bytes before its last key, to which the checksum in it belongs.
void check_checksum(const Json& json, std::string_view text) {
  const store::Checksum told = checksum_from(json, "checksum");
  const std::string_view front = text.substr(0, text.rfind(kChecksumKey));
  if (store::checksum_of(std::as_bytes(std::span(front))) == told) return;
  throw store::BadJson("its checksum is not that of its text");
}

void check_format(const Json& json) {
  const Json* const format = json.is_object() ? store::find(json, "format") : nullptr;
  if (format == nullptr || *format != kFormat) {
    throw std::runtime_error(
        "is not a manifest that leveret publish has written; name a folder that it has made, or a "
        "new one");
  }
  const std::uint64_t version = store::whole(json, "version");
  if (version == Manifest::kVersion) return;
  throw std::runtime_error(
      fmt::format("is of version {}, and this program knows version {}; it was made by a newer "
                  "leveret: update this one",
                  version, Manifest::kVersion));
}

}  // namespace

const Entry& Manifest::newest() const {
  const std::uint64_t step = entries.back().step;
  return *find(step);
}

const Entry* Manifest::find(std::uint64_t step, Entry::Kind kind) const {
  const auto found = std::ranges::find_if(
      entries, [&](const Entry& entry) { return entry.step == step && entry.kind == kind; });
  return found != entries.end() ? &*found : nullptr;
}

const Entry* Manifest::find(std::uint64_t step) const {
  const auto found = std::ranges::find(entries, step, &Entry::step);
  return found != entries.end() ? &*found : nullptr;
}

const Entry* Manifest::rolled_back(const store::Checksum& model) const {
  if (empty()) return nullptr;
  const store::Checksum& served = newest().fingerprint;
  const auto target = std::ranges::find(entries, served, &Entry::fingerprint);
  if (target->model == model) return nullptr;
  const auto found = std::find_if(target, entries.end(), [&](const Entry& one) {
    return one.fingerprint != served && one.model == model;
  });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<const Entry*> Manifest::files_for(std::uint64_t step) const {
  std::vector<const Entry*> files;
  for (; step > 0; --step) {
    if (const Entry* const full = find(step, Entry::Kind::kFull)) {
      files.push_back(full);
      std::ranges::reverse(files);
      return files;
    }
    const Entry* const patch = find(step, Entry::Kind::kPatch);
    if (patch == nullptr) break;
    files.push_back(patch);
  }
  return {};
}

std::string to_text(const Manifest& manifest) {
  Json json = {{"format", kFormat}, {"version", Manifest::kVersion}};
  json["newest"] = manifest.empty() ? 0 : manifest.newest().step;
  json["steps"] = Json::array();
  for (const Entry& entry : manifest.entries) json["steps"].push_back(to_json(entry));
  json["retired"] = manifest.retired;
  json["checksum"] = std::string(32, '0');
  std::string text = json.dump(2) + '\n';
  if (text.size() > kMaxBytes) {
    throw std::runtime_error("the manifest would have more than 256 MB: keep fewer steps (--keep)");
  }
  const std::size_t key = text.rfind(kChecksumKey);
  const store::Checksum sum = store::checksum_of(std::as_bytes(std::span(text).first(key)));
  text.replace(text.rfind("\"0"), 34, '"' + store::to_hex(sum) + '"');
  return text;
}

Manifest manifest_from_text(const std::string& text, const std::string& name) try {
  const Json json = store::parse_json(text);
  check_format(json);
  check_checksum(json, text);
  Manifest manifest;
  for (const Json& entry : store::list(json, "steps"))
    manifest.entries.push_back(entry_from(entry));
  check_steps(manifest.entries);
  for (const Json& file : store::list(json, "retired")) {
    if (!file.is_string()) store::bad_member("retired", "a list of names");
    manifest.retired.push_back(check_name(file.get<std::string>()));
  }
  return manifest;
} catch (const store::BadJson& error) {
  throw std::runtime_error(name + ": " + error.what() + kAdvice);
} catch (const std::exception& error) {
  throw std::runtime_error(name + ": " + error.what());
}

std::string manifest_path(const std::string& folder) { return folder + '/' + Manifest::kName; }

std::optional<Manifest> read_manifest(const std::string& folder) {
  const std::string path = manifest_path(folder);
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::nullopt;
    throw std::runtime_error(
        fmt::format("{}: cannot read: {}; name a folder of leveret publish that you may read", path,
                    std::strerror(errno)));
  }
  // A pipe that is opened waits for its writer.
  if (!S_ISREG(info.st_mode) || static_cast<std::uintmax_t>(info.st_size) > kMaxBytes) {
    throw std::runtime_error(path + ": is not a manifest that leveret publish has written");
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream.is_open() || stream.bad()) {
    throw std::runtime_error(path + ": cannot read; check its permissions, and the disk");
  }
  return manifest_from_text(content.str(), path);
}

}  // namespace leveret::publish
