#include "publish/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "feature/feature_map.h"
#include "metrics/metrics.h"
#include "modelfile/model_io.h"
#include "publish/judge.h"
#include "stream/bad_lines.h"
#include "stream/text_reader.h"

namespace leveret::publish {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct MetricName {
  const char* name;
  double (*value)(const metrics::MetricsSnapshot&);
};

using Snapshot = metrics::MetricsSnapshot;
constexpr std::array<MetricName, 7> kMetrics = {{
    {"examples", [](const Snapshot& m) { return static_cast<double>(m.examples); }},
    {"logloss", [](const Snapshot& m) { return m.logloss; }},
    {"auc", [](const Snapshot& m) { return m.auc; }},
    {"ne", [](const Snapshot& m) { return m.ne; }},
    {"rig", [](const Snapshot& m) { return m.rig; }},
    {"calibration", [](const Snapshot& m) { return m.calibration; }},
    {"base_rate", [](const Snapshot& m) { return m.base_rate; }},
}};

const MetricName* find_metric(std::string_view name) {
  for (const MetricName& metric : kMetrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<double> number(std::string_view text) {
  text = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// Parses what stands behind the metric; false where that is no condition.
bool parse_condition(std::string_view text, Limit& limit) {
  limit.low = -kInfinity;
  limit.high = kInfinity;
  if (text.starts_with('<') || text.starts_with('>')) {
    const bool below = text[0] == '<', is_in = text.substr(1).starts_with('=');
    const std::optional<double> value = number(text.substr(is_in ? 2 : 1));
    if (!value) return false;
    (below ? limit.high : limit.low) = *value;
    (below ? limit.high_is_in : limit.low_is_in) = is_in;
    return true;
  }
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return false;
  const std::optional<double> low = number(text.substr(0, dots));
  const std::optional<double> high = number(text.substr(dots + 2));
  if (!low || !high || *low > *high) return false;
  limit.low = *low;
  limit.high = *high;
  return true;
}

/// Conditions that compare with the newest step.
constexpr const char *kNotWorse = "not_worse", *kBetter = "better";

Limit parse_limit(std::string_view text) {
  const std::size_t name =
      std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), text.size());
  Limit limit;
  if (text == kNotWorse || text == kBetter) {
    limit.kind = text == kBetter ? Limit::Kind::kBetter : Limit::Kind::kNotWorse;
    limit.metric = kDifference;
    limit.text = text;
    return limit;
  }
  limit.metric = text.substr(0, name);
  limit.text = trimmed(text.substr(name));
  if (find_metric(limit.metric) == nullptr) {
    throw std::runtime_error(fmt::format(
        "\"{}\" begins with no metric; there are examples, logloss, auc, ne, rig, calibration and "
        "base_rate, and the conditions not_worse and better",
        text));
  }
  if (parse_condition(limit.text, limit)) return limit;
  throw std::runtime_error(
      fmt::format("\"{}\" is no condition; write {} < NUMBER (or <=, >, >=), or {} LOW..HIGH", text,
                  limit.metric, limit.metric));
}

bool is_relative(const Limit& limit) { return limit.kind != Limit::Kind::kRange; }

using Models = std::vector<std::shared_ptr<const model::Model>>;

metrics::Scores scores_of(const Models& models, const std::string& file) {
  Judge judge(models, {});
  stream::BadLineTally tally({});
  stream::TextReader source({file}, {});
  text::ExampleChunk chunk;
  try {
    while (source.next(chunk)) {
      judge.add(chunk);
      tally.add(chunk, source.source_name(chunk.source));
    }
  } catch (const feature::BadExample& error) {
    throw std::runtime_error(file + ": " + error.what());
  }
  tally.finish();
  return judge.take_scores();
}

/// Appends the values of the candidate alone, which is the last model.
void measure_ranges(const Gate& gate, const metrics::Scores& scores, std::vector<Measured>& all) {
  const Snapshot snapshot = scores.snapshot(scores.models() - 1);
  for (const Limit& limit : gate.limits) {
    if (is_relative(limit)) continue;
    const double value = find_metric(limit.metric)->value(snapshot);
    all.push_back({gate.file, limit.metric, limit.text, value,
                   limit.holds(value) && snapshot.not_finite == 0});
  }
}

/// Appends those of the newest step and the candidate beside each other; all hold where there is
/// no newest step.
void measure_relative(const Gate& gate, const metrics::Scores& scores, unsigned threads,
                      std::vector<Measured>& all) {
  if (std::ranges::none_of(gate.limits, is_relative)) return;
  using metrics::Standing;
  const bool both = scores.models() > 1;
  const Standing standing =
      both ? standing_of(scores, bootstrap(scores, threads), 0) : Standing::kBetter;
  const double value = both ? scores.snapshot(1).logloss - scores.snapshot(0).logloss : 0;
  for (const Limit& limit : gate.limits) {
    if (!is_relative(limit)) continue;
    const bool holds = limit.kind == Limit::Kind::kBetter ? standing == Standing::kBetter
                                                          : standing != Standing::kWorse;
    all.push_back(
        {gate.file, limit.metric, limit.text, value, holds, standing != Standing::kNotEnough});
  }
}

}  // namespace

Gate parse_gate(std::string_view text) {
  const std::size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos || trimmed(text.substr(0, colon)).empty()) {
    throw std::runtime_error(
        fmt::format("\"{}\" is no gate; write FILE: CONDITION, CONDITION…, such as "
                    "\"yesterday.vw: ne < 0.8, calibration 0.9..1.1\"",
                    text));
  }
  Gate gate;
  gate.file = text.substr(0, colon);
  // A reader takes it for standard input, of which there is one for all gates.
  if (gate.file == "-") throw std::runtime_error("a gate reads a file, not standard input (-)");
  std::string_view rest = text.substr(colon + 2);
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    gate.limits.push_back(parse_limit(trimmed(rest.substr(0, comma))));
    if (more) rest.remove_prefix(comma + 1);
  }
  return gate;
}

std::string value_text(const Measured& measured) {
  if (std::isnan(measured.value)) return "no number";
  return fmt::format("{:.{}f}", measured.value, measured.metric == "examples" ? 0 : 6);
}

std::vector<Measured> measure(const std::vector<Gate>& gates, const std::string& model,
                              const store::ModelFile* newest, unsigned threads) {
  std::vector<Measured> all;
  if (gates.empty()) return all;
  const auto load = [](const auto& from) {
    return std::make_shared<const model::Model>(
        modelfile::load_model(from, modelfile::default_memory_limit(), model::Use::kPredict));
  };
  const auto candidate = load(model);
  std::shared_ptr<const model::Model> before;
  for (const Gate& gate : gates) {
    const bool both = newest != nullptr && std::ranges::any_of(gate.limits, is_relative);
    if (both && before == nullptr) before = load(*newest);
    const metrics::Scores scores =
        scores_of(both ? Models{before, candidate} : Models{candidate}, gate.file);
    if (scores.size() == 0) {
      throw std::runtime_error(gate.file +
                               ": has no labelled example; the gate cannot be measured");
    }
    measure_ranges(gate, scores, all);
    measure_relative(gate, scores, threads, all);
  }
  return all;
}

}  // namespace leveret::publish
