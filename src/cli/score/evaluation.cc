#include "cli/score/evaluation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "cli/score/figures.h"
#include "metrics/figures_json.h"
#include "metrics/reliability.h"

namespace leveret::cli {
namespace {

using metrics::MetricsSnapshot;
using metrics::ScoreIntervals;
using Json = nlohmann::ordered_json;

std::optional<ScoreIntervals> intervals_of(const metrics::Scores& scores,
                                           const EvaluationDetails& details) {
  if (!details.intervals) return std::nullopt;
  return bootstrap(scores, details.threads);
}

// ---- tables ----

std::string figures(const MetricsSnapshot& m, const std::optional<ScoreIntervals>& intervals) {
  std::string text;
  const auto add = [&](const char* name, const std::string& value,
                       metrics::FigureIntervals ScoreIntervals::*interval = nullptr) {
    text += fmt::format("{:<12} {}", name, value);
    if (intervals && interval != nullptr) {
      text += fmt::format("  {}", range_text(((*intervals).*interval).of[0]));
    }
    text += '\n';
  };
  add("examples", fmt::format("{}", m.examples));
  add("logloss", figure_text(m.logloss), &ScoreIntervals::logloss);
  add("auc", figure_text(m.auc), &ScoreIntervals::auc);
  add("ne", figure_text(m.ne));
  add("rig", figure_text(m.rig));
  add("calibration", figure_text(m.calibration), &ScoreIntervals::calibration);
  add("base_rate", figure_text(m.base_rate));
  return text;
}

std::string reliability_table(const metrics::Scores& scores) {
  std::string text = fmt::format("\n{:<20} {:>10} {:>10} {:>10}\n", "predictions", "examples",
                                 "mean", "click rate");
  for (const metrics::ReliabilityBin& bin : metrics::reliability(scores, 0)) {
    text += fmt::format("{:<20} {:>10} {:>10.6f} {:>10.6f}\n",
                        fmt::format("{:.6f}..{:.6f}", bin.low, bin.high), bin.examples,
                        bin.mean_prediction, bin.click_rate);
  }
  return text;
}

std::string slice_table(const EvaluationDetails& details) {
  std::string text =
      fmt::format("\n{:<14} {:>9} {:>9} {:>9} {:>11} {:>9}", cut("by " + details.by, 14),
                  "examples", "logloss", "auc", "calibration", "base_rate");
  text += details.intervals ? "  95 % of logloss\n" : "\n";
  for (const metrics::Slice& slice : details.slices) {
    const MetricsSnapshot m = slice.scores.snapshot(0);
    text += fmt::format("{:<14} {:>9} {:>9} {:>9} {:>11} {:>9}", cut(slice.name, 14), m.examples,
                        figure_text(m.logloss), figure_text(m.auc), figure_text(m.calibration),
                        figure_text(m.base_rate));
    if (const auto intervals = intervals_of(slice.scores, details)) {
      text += "  " + range_text(intervals->logloss.of[0]);
    }
    text += '\n';
  }
  return text;
}

// ---- JSON ----

void put_intervals(Json& json, const std::optional<ScoreIntervals>& intervals) {
  if (!intervals) return;
  json["intervals"] = {{"logloss", interval_json(intervals->logloss.of[0])},
                       {"auc", interval_json(intervals->auc.of[0])},
                       {"calibration", interval_json(intervals->calibration.of[0])}};
}

Json bins_json(const metrics::Scores& scores) {
  Json bins = Json::array();
  for (const metrics::ReliabilityBin& bin : metrics::reliability(scores, 0)) {
    bins.push_back({{"low", metrics::rounded(bin.low)},
                    {"high", metrics::rounded(bin.high)},
                    {"examples", bin.examples},
                    {"mean_prediction", metrics::rounded(bin.mean_prediction)},
                    {"click_rate", metrics::rounded(bin.click_rate)}});
  }
  return bins;
}

std::string line_of_json(const MetricsSnapshot& all, const EvaluationDetails& details) {
  Json json = metrics::figures_json(all, true);
  if (details.skew) json["skew"] = *details.skew;
  if (details.scores == nullptr) return json.dump() + "\n";
  put_intervals(json, intervals_of(*details.scores, details));
  if (details.reliability) json["reliability"] = bins_json(*details.scores);
  if (!details.by.empty()) {
    json["by"] = details.by;
    Json& slices = json["slices"] = Json::array();
    for (const metrics::Slice& slice : details.slices) {
      Json one{{"slice", slice.name}};
      one.update(metrics::figures_json(slice.scores.snapshot(0), true));
      put_intervals(one, intervals_of(slice.scores, details));
      slices.push_back(std::move(one));
    }
  }
  return json_line(json);
}

}  // namespace

std::string evaluation_text(const MetricsSnapshot& metrics, bool json,
                            const EvaluationDetails& details) {
  if (metrics.examples == 0) {
    throw std::runtime_error("no labelled example in the input, nothing to evaluate");
  }
  if (json) return line_of_json(metrics, details);
  if (details.scores == nullptr) return figures(metrics, std::nullopt);
  std::string text = figures(metrics, intervals_of(*details.scores, details));
  if (details.reliability) text += reliability_table(*details.scores);
  if (!details.by.empty()) text += slice_table(details);
  return text;
}

}  // namespace leveret::cli
