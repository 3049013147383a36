#include "spec/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "spec/entries.h"
#include "text/byte_characters.h"

namespace leveret::spec {

using Json = nlohmann::ordered_json;

namespace {

std::string to_bytes(const std::string& characters) {
  if (auto bytes = text::from_characters(characters)) return *std::move(bytes);
  throw std::runtime_error("a name in the model's header is not one byte per character");
}

/// What a key means cannot be guessed, and a model that lacks a part predicts something else.
void refuse_unknown_keys(const Json& json) {
  if (!json.is_object()) throw std::runtime_error("the model's header has no spec; it is damaged");
  for (const auto& [key, value] : json.items()) {
    const auto entry = std::ranges::find(spec_entries(), key, &SpecEntry::name);
    if (entry != spec_entries().end()) continue;
    throw std::runtime_error("the model's header has \"" + key +
                             "\", which this program does not know; the file is damaged or of a "
                             "newer version");
  }
}

}  // namespace

Json to_json(const Spec& spec) {
  Json json = Json::object();
  for (const SpecEntry& entry : spec_entries()) {
    if (!is_stored(entry, spec)) continue;
    const std::string text = entry.get(spec);
    json[entry.name] = entry.number ? Json::parse(text) : Json(text::to_characters(text));
  }
  return json;
}

Spec spec_from_json(const Json& json) {
  Spec spec;
  refuse_unknown_keys(json);
  for (const SpecEntry& entry : spec_entries()) {
    const std::string key(entry.name);
    const auto found = json.find(key);
    if (found == json.end() && entry.absent != nullptr) {
      entry.set(spec, entry.absent);
      continue;
    }
    if (found == json.end() || (entry.number ? !found->is_number() : !found->is_string())) {
      throw std::runtime_error("the model's header lacks \"" + key +
                               "\" or has it in the wrong form; the file is damaged or of another "
                               "version");
    }
    entry.set(spec, entry.number ? found->dump() : to_bytes(found->get<std::string>()));
  }
  check_spec(spec);
  return spec;
}

Json to_json(const std::vector<feature::NamespacePlan>& plans) {
  Json list = Json::array();
  for (const feature::NamespacePlan& plan : plans) {
    list.push_back({{"name", text::to_characters(plan.name)},
                    {"keep", plan.keep},
                    {"linear", plan.linear},
                    {"fields", plan.fields},
                    {"selectors", plan.selectors}});
  }
  return list;
}

std::vector<feature::NamespacePlan> plans_from_json(const Json& json) {
  std::vector<feature::NamespacePlan> plans;
  try {
    for (const Json& item : json) {
      feature::NamespacePlan plan;
      plan.name = to_bytes(item.at("name").get<std::string>());
      plan.keep = item.at("keep").get<bool>();
      plan.linear = item.at("linear").get<bool>();
      plan.fields = item.at("fields").get<std::vector<std::uint32_t>>();
      plan.selectors = item.at("selectors").get<std::vector<std::uint32_t>>();
      for (const std::uint32_t field : plan.fields) {
        if (field >= 4096) throw std::runtime_error("a field's number is beyond 4095");
      }
      plans.push_back(std::move(plan));
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("the model's list of namespaces is damaged: ") +
                             error.what());
  }
  return plans;
}

}  // namespace leveret::spec
