#include "metrics/figures_json.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace leveret::metrics {

using Json = nlohmann::ordered_json;

Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(fmt::format("{:.6f}", value));
}

void put_figures(Json& json, const MetricsSnapshot& s) {
  json["examples"] = s.examples;
  json["logloss"] = rounded(s.logloss);
  json["auc"] = rounded(s.auc);
  json["ne"] = rounded(s.ne);
  json["rig"] = rounded(s.rig);
  json["calibration"] = rounded(s.calibration);
  json["base_rate"] = rounded(s.base_rate);
  json["mean_prediction"] = rounded(s.mean_prediction);
  json["mean_label"] = rounded(s.mean_label);
}

void put_not_finite(Json& json, const MetricsSnapshot& s) {
  if (s.not_finite > 0) json["not_finite"] = s.not_finite;
}

Json figures_json(const MetricsSnapshot& snapshot, bool exact_auc) {
  Json json;
  put_figures(json, snapshot);
  if (exact_auc && snapshot.auc_error > 0) json["auc_error"] = rounded(snapshot.auc_error);
  put_not_finite(json, snapshot);
  return json;
}

}  // namespace leveret::metrics
