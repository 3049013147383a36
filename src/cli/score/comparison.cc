#include "cli/score/comparison.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/score/figures.h"
#include "metrics/figures_json.h"

namespace leveret::cli {
namespace {

using metrics::Interval;
using metrics::MetricsSnapshot;
using metrics::Standing;
using Json = nlohmann::ordered_json;

/// Two models over all examples, or over a slice.
struct Pair {
  MetricsSnapshot a, b;
  metrics::ScoreIntervals intervals;
  Standing standing;
};

Pair pair_of(const metrics::Scores& scores, const Comparison& comparison) {
  Pair pair{scores.snapshot(0), scores.snapshot(1), bootstrap(scores, comparison.threads), {}};
  pair.standing = standing_of(scores, pair.intervals, comparison.tolerance);
  return pair;
}

const char* word(Standing standing) {
  switch (standing) {
    case Standing::kWorse:
      return "worse";
    case Standing::kBetter:
      return "better";
    case Standing::kNotEnough:
      return "not_enough";
    case Standing::kNotTold:
      break;
  }
  return "not_told";
}

struct Figure {
  const char* name;
  double MetricsSnapshot::*value;
  metrics::FigureIntervals metrics::ScoreIntervals::*intervals;
};
constexpr Figure kFigures[] = {
    {"logloss", &MetricsSnapshot::logloss, &metrics::ScoreIntervals::logloss},
    {"auc", &MetricsSnapshot::auc, &metrics::ScoreIntervals::auc},
    {"calibration", &MetricsSnapshot::calibration, &metrics::ScoreIntervals::calibration}};

// ---- JSON ----

Json json_of(const Pair& pair) {
  Json json;
  json["examples"] = pair.a.examples;
  for (const Figure& figure : kFigures) {
    Json& of = json[figure.name];
    const double a = pair.a.*figure.value, b = pair.b.*figure.value;
    of["a"] = metrics::rounded(a);
    of["b"] = metrics::rounded(b);
    of["difference"] = metrics::rounded(b - a);
    of["interval"] = interval_json((pair.intervals.*figure.intervals).difference);
  }
  if (pair.a.not_finite > 0) json["not_finite_a"] = pair.a.not_finite;
  if (pair.b.not_finite > 0) json["not_finite_b"] = pair.b.not_finite;
  json["verdict"] = word(pair.standing);
  return json;
}

std::string line_of_json(const Pair& all, const Comparison& comparison) {
  Json json = json_of(all);
  if (!comparison.by.empty()) {
    json["by"] = comparison.by;
    Json& slices = json["slices"] = Json::array();
    for (const metrics::Slice& slice : comparison.slices) {
      Json one{{"slice", slice.name}};
      one.update(json_of(pair_of(slice.scores, comparison)));
      slices.push_back(std::move(one));
    }
  }
  return json_line(json);
}

// ---- a table ----

std::string table(const Pair& all) {
  std::string text =
      fmt::format("{:<12} {:>10} {:>10} {:>10}  {}\n", "", "A", "B", "B - A", "95 % interval");
  for (const Figure& figure : kFigures) {
    const double a = all.a.*figure.value, b = all.b.*figure.value;
    text += fmt::format("{:<12} {:>10} {:>10} {:>10}  {}\n", figure.name, figure_text(a),
                        figure_text(b), difference_text(b - a),
                        interval_text((all.intervals.*figure.intervals).difference));
  }
  text += fmt::format("{:<12} {:>10}\n", "examples", all.a.examples);
  return text;
}

std::string slice_table(const Comparison& comparison) {
  std::string text =
      fmt::format("\n{:<14} {:>9} {:>9} {:>9} {:>10}  {}\n", cut("by " + comparison.by, 14),
                  "examples", "A logloss", "B logloss", "B - A", "95 % interval");
  for (const metrics::Slice& slice : comparison.slices) {
    const Pair pair = pair_of(slice.scores, comparison);
    text += fmt::format("{:<14} {:>9} {:>9} {:>9} {:>10}  {}{}\n", cut(slice.name, 14),
                        pair.a.examples, figure_text(pair.a.logloss), figure_text(pair.b.logloss),
                        difference_text(pair.b.logloss - pair.a.logloss),
                        interval_text(pair.intervals.logloss.difference),
                        pair.standing == Standing::kWorse ? "  worse" : "");
  }
  return text;
}

std::string sentence(const Pair& all, double tolerance) {
  if (all.b.not_finite > all.a.not_finite) {
    return fmt::format("B is worse: {} of its predictions are not finite", all.b.not_finite);
  }
  if (all.a.not_finite > all.b.not_finite) {
    return fmt::format("B is better: {} of A's predictions are not finite", all.a.not_finite);
  }
  const double difference = all.b.logloss - all.a.logloss;
  switch (all.standing) {
    case Standing::kBetter:
      return fmt::format("B is better: its logloss is lower by {:.6f}", -difference);
    case Standing::kWorse:
      return fmt::format("B is worse: its logloss is higher by {:.6f}{}", difference,
                         tolerance > 0 ? fmt::format(", and {} are allowed", tolerance) : "");
    case Standing::kNotEnough:
      return fmt::format(
          "there are not enough examples to say which is better: give {} or more, of both labels",
          metrics::kFewest);
    case Standing::kNotTold:
      break;
  }
  return "these examples do not show which is better";
}

}  // namespace

Compared compare(const Comparison& comparison, bool json) {
  const metrics::Scores& scores = comparison.scores;
  if (scores.size() == 0) {
    throw std::runtime_error("no labelled example in the input, nothing to compare");
  }
  const Pair all = pair_of(scores, comparison);
  if (json) return {all.standing, line_of_json(all, comparison)};
  std::string text = table(all);
  if (!comparison.by.empty()) text += slice_table(comparison);
  return {all.standing, text + "\n" + sentence(all, comparison.tolerance) + "\n"};
}

}  // namespace leveret::cli
