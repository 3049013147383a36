#include "cli/look/audit_json.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace leveret::cli {
namespace {

using Json = nlohmann::ordered_json;

/// As many digits as the float has; null for what JSON cannot say.
Json number(float value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(fmt::format("{}", value));
}
Json number(const std::optional<float>& value) { return value ? number(*value) : Json(); }

Json scores(const std::vector<AuditedScore>& all) {
  Json json = Json::object();
  for (const AuditedScore& one : all) json[one.name] = number(one.score);
  return json;
}

}  // namespace

void put_features(const AuditedExample& example, const spec::Spec& spec, bool with_model,
                  Json& to) {
  Json& features = to["features"] = Json::array();
  for (const AuditedFeature& feature : example.features) {
    Json json{
        {"feature", feature.name}, {"index", feature.index}, {"value", number(feature.value)}};
    if (with_model) {
      json["weight"] = number(feature.weight);
      json["contribution"] = number(feature.contribution);
      json["row_length"] = number(feature.row_length);
    }
    if (with_model && spec.mixed()) {
      json["weight2"] = number(feature.weight2);
      if (spec.fast_head) json["fast"] = number(feature.fast);
      json["clicks"] = number(feature.clicks);
      json["count"] = number(feature.count);
    }
    features.push_back(std::move(json));
  }
}

void put_scores(const AuditedExample& example, const predict::Outcome& outcome,
                std::string_view tag, Json& to) {
  to["prediction"] = number(outcome.probability);
  if (!tag.empty()) to["tag"] = tag;
  to["heads"] = scores(example.heads);
  to["fields"] = Json::array();
  for (const AuditedField& field : example.fields) {
    if (field.name.empty()) {
      to["rest"] = scores(field.scores);
      continue;
    }
    Json json{{"field", field.name}};
    json.update(scores(field.scores));
    to["fields"].push_back(std::move(json));
  }
}

void put_explanation(const predict::Explanation& explanation, const text::NamespaceNames& names,
                     Json& to) {
  Json& json = to["explanation"];
  json["base"] = number(explanation.base);
  json["contributions"] = Json::array();
  for (const predict::Explanation::Part& part : explanation.parts) {
    json["contributions"].push_back(
        {{"namespace", names.name(part.name)}, {"contribution", number(part.contribution)}});
  }
  json["last"] = number(explanation.score);
}

}  // namespace leveret::cli
