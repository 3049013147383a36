#include "cli/look/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/look/describe.h"

namespace leveret::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string plural(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string shortened(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

std::string options_summary(const Json& spec) {
  constexpr std::size_t kMost = 8;
  const Json usual = spec_to_json(spec::Spec());
  std::vector<std::string> lines;
  for (const auto& [name, value] : spec.items()) {
    if (usual.contains(name) && usual[name] == value) continue;
    lines.push_back(shortened(fmt::format("  {:<24} {}", name, plain(value)), kScreen));
  }
  if (lines.empty()) return "\nSpec: the defaults\n";
  std::string text = "\nSpec, without the defaults\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) text += lines[i] + '\n';
  if (lines.size() > kMost) text += fmt::format("  and {} more\n", lines.size() - kMost);
  return text;
}

std::string fields_summary(const Json& fields, bool pairs) {
  if (fields.empty()) return "";
  constexpr std::size_t kMost = 6;
  const auto features = [](const Json& field) { return field.value("keys", std::uint64_t{0}); };
  std::vector<const Json*> largest;
  for (const Json& field : fields) largest.push_back(&field);
  std::ranges::stable_sort(largest, [&](auto* a, auto* b) { return features(*a) > features(*b); });
  std::string text = fmt::format("\nFields: {}", fields.size());
  if (pairs) text += fmt::format(", {}", plural(fields.size() * (fields.size() + 1) / 2, "pair"));
  text += fmt::format("\n  {:>5} {:>12} {:>12}  {}\n", "field", "features", "rows", "namespaces");
  std::uint64_t others = 0, rows = 0;
  for (std::size_t i = 0; i < largest.size(); ++i) {
    const Json& field = *largest[i];
    if (i >= kMost) {
      others += features(field);
      rows += field.value("rows", std::uint64_t{0});
      continue;
    }
    text += shortened(fmt::format("  {:>5} {:>12} {:>12}  {}", plain(field["field"]),
                                  field.contains("keys") ? plain(field["keys"]) : "-",
                                  field.contains("rows") ? plain(field["rows"]) : "-",
                                  plain(field["namespaces"])),
                      kScreen) +
            '\n';
  }
  if (largest.size() > kMost) {
    text += fmt::format("  {:>5} {:>12} {:>12}  in all others\n",
                        fmt::format("+{}", largest.size() - kMost), others, rows);
  }
  return text;
}

std::string sections_summary(const Json& sections) {
  constexpr std::size_t kMost = 3;
  struct Role {
    std::uint64_t sections = 0, bytes = 0;
  };
  std::vector<std::pair<std::string, Role>> roles;
  std::vector<std::string> odd;
  for (const Json& section : sections) {
    const auto name = section["role"].get<std::string>();
    auto role = std::ranges::find(roles, name, &std::pair<std::string, Role>::first);
    if (role == roles.end()) role = roles.insert(roles.end(), {name, {}});
    ++role->second.sections;
    role->second.bytes += section["bytes"].get<std::uint64_t>();
    if (section.contains("not_finite")) {
      odd.push_back(shortened(fmt::format("  NOT FINITE: {} in {}", plain(section["not_finite"]),
                                          plain(section["name"])),
                              kScreen));
    }
  }
  std::string text = "\nSections\n";
  for (const auto& [name, role] : roles) {
    text += fmt::format("  {:<13} {:>14} bytes in {}\n", name, role.bytes,
                        plural(role.sections, "section"));
  }
  for (std::size_t i = 0; i < std::min(odd.size(), kMost); ++i) text += odd[i] + '\n';
  if (odd.size() > kMost) text += fmt::format("  and in {} more\n", odd.size() - kMost);
  return text + fmt::format("\nAll checksums are right ({}). --all shows all of it.\n",
                            plural(sections.size(), "section"));
}

}  // namespace leveret::cli
