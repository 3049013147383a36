#include "cli/score/evaluation.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace leveret::cli {
namespace {

std::string table(const metrics::MetricsSnapshot& m) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<12} {}\n", name, value);
  };
  const auto figure = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.6f}", value) : std::string("-");
  };
  add("examples", fmt::format("{}", m.examples));
  add("logloss", figure(m.logloss));
  add("auc", figure(m.auc));
  add("ne", figure(m.ne));
  add("rig", figure(m.rig));
  add("calibration", figure(m.calibration));
  add("base_rate", figure(m.base_rate));
  return text;
}

}  // namespace

std::string evaluation_text(const metrics::MetricsSnapshot& metrics, bool json) {
  if (metrics.examples == 0) {
    throw std::runtime_error("no labelled example in the input, nothing to evaluate");
  }
  return json ? metrics::metrics_json(metrics, true) + "\n" : table(metrics);
}

}  // namespace leveret::cli
