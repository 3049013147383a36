#include "model/spec_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/spec_entries.h"

namespace leveret::model {

using Json = nlohmann::ordered_json;

Json to_json(const Spec& spec) {
  Json json = Json::object();
  for (const SpecEntry& entry : spec_entries()) {
    const std::string text = entry.get(spec);
    json[entry.name] = entry.number ? Json::parse(text) : Json(text);
  }
  return json;
}

Spec spec_from_json(const Json& json) {
  Spec spec;
  for (const SpecEntry& entry : spec_entries()) {
    const auto found = json.find(entry.name);
    if (found == json.end() || (entry.number ? !found->is_number() : !found->is_string())) {
      throw std::runtime_error(std::string("the model's header lacks \"") + entry.name +
                               "\" or has it in the wrong form; the file is damaged or of another "
                               "version");
    }
    entry.set(spec, entry.number ? found->dump() : found->get<std::string>());
  }
  check_spec(spec);
  return spec;
}

Json to_json(const std::vector<feature::NamespacePlan>& plans) {
  Json list = Json::array();
  for (const feature::NamespacePlan& plan : plans) {
    // Names are bytes of any kind; JSON wants UTF-8, so each byte becomes the character of its
    // value.
    std::string name;
    for (const char c : plan.name) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80) {
        name += c;
      } else {
        name += static_cast<char>(0xc0 | (byte >> 6));
        name += static_cast<char>(0x80 | (byte & 0x3f));
      }
    }
    list.push_back({{"name", name},
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
      const std::string name = item.at("name").get<std::string>();
      for (std::size_t i = 0; i < name.size(); ++i) {
        const auto byte = static_cast<unsigned char>(name[i]);
        if (byte < 0x80) {
          plan.name += name[i];
        } else if (i + 1 < name.size() && (byte & 0xfc) == 0xc0) {
          plan.name += static_cast<char>((byte << 6) | (name[++i] & 0x3f));
        } else {
          throw std::runtime_error("a namespace's name is not one byte per character");
        }
      }
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

}  // namespace leveret::model
