#include "metrics/metrics.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

namespace leveret::metrics {
namespace {

struct Scored {
  float p, label, importance;
};

/// Many ties (two decimals), a weak signal, weights of several sizes.
std::vector<Scored> make_scored(std::size_t n, unsigned seed, bool ties) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::vector<Scored> out;
  for (std::size_t i = 0; i < n; ++i) {
    float p = uniform(rng) * uniform(rng);
    if (ties) p = std::round(p * 100) / 100;
    const float label = uniform(rng) < 0.1f + 0.6f * p ? 1.0f : -1.0f;
    out.push_back({p, label, static_cast<float>(1 + i % 3)});
  }
  return out;
}

/// The definition: every pair.
double auc_by_pairs(const std::vector<Scored>& scored) {
  double won = 0, pairs = 0;
  for (const Scored& a : scored)
    for (const Scored& b : scored) {
      if (a.label < 0 || b.label > 0) continue;
      const double weight = double{a.importance} * b.importance;
      pairs += weight;
      won += weight * (a.p > b.p ? 1.0 : a.p == b.p ? 0.5 : 0.0);
    }
  return won / pairs;
}

void add_all(Metrics& metrics, const std::vector<Scored>& scored) {
  for (const Scored& s : scored) metrics.add(s.p, s.label, s.importance);
}

}  // namespace

TEST_CASE("figures of four examples by hand") {
  for (const AucKind kind : {AucKind::kHistogram, AucKind::kExact}) {
    Metrics metrics(kind);
    metrics.add(0.8f, 1, 1);
    metrics.add(0.4f, -1, 1);
    metrics.add(0.3f, 1, 2);
    metrics.add(0.1f, -1, 1);
    const MetricsSnapshot s = metrics.snapshot();
    CHECK(s.examples == 4);
    CHECK(s.weight == 5);
    const double loss = -(std::log(0.8) + std::log(0.6) + 2 * std::log(0.3) + std::log(0.9)) / 5;
    CHECK(s.logloss == Approx(loss).epsilon(1e-6));
    const double h = -(0.6 * std::log(0.6) + 0.4 * std::log(0.4));
    CHECK(s.base_rate == Approx(0.6));
    CHECK(s.mean_label == s.base_rate);
    CHECK(s.ne == Approx(loss / h).epsilon(1e-6));
    CHECK(s.rig == Approx(1 - loss / h).epsilon(1e-6));
    CHECK(s.mean_prediction == Approx((0.8 + 0.4 + 0.6 + 0.1) / 5));
    CHECK(s.calibration == Approx((0.8 + 0.4 + 0.6 + 0.1) / 3));
    // Pairs won: .8 over both, .3 (twice) over .1 only: 4 of 6.
    CHECK(s.auc == Approx(4.0 / 6));
    CHECK(s.auc_error == 0);
  }
}

TEST_CASE("the constant base rate has ne 1, auc 1/2, calibration 1") {
  Metrics metrics;
  for (int i = 0; i < 1000; ++i) metrics.add(0.25f, i % 4 == 0 ? 1.0f : -1.0f, 1);
  const MetricsSnapshot s = metrics.snapshot();
  CHECK(s.ne == Approx(1));
  CHECK(s.rig == Approx(0).margin(1e-12));
  CHECK(s.auc == Approx(0.5));
  CHECK(s.calibration == Approx(1));
}

TEST_CASE("exact auc equals the count over all pairs, ties and weights included") {
  for (const bool ties : {true, false}) {
    const auto scored = make_scored(1500, 7, ties);
    Metrics metrics(AucKind::kExact);
    add_all(metrics, scored);
    const MetricsSnapshot s = metrics.snapshot();
    CHECK(s.auc == Approx(auc_by_pairs(scored)).epsilon(1e-12));
    CHECK(s.auc_error == 0);
  }
}

TEST_CASE("histogram auc keeps its error bound, and the bound is small") {
  const auto scored = make_scored(100000, 8, false);
  Metrics exact(AucKind::kExact), histogram;
  add_all(exact, scored);
  add_all(histogram, scored);
  const MetricsSnapshot s = histogram.snapshot();
  CHECK(std::abs(s.auc - exact.snapshot().auc) <= s.auc_error);
  CHECK(s.auc_error > 0);
  CHECK(s.auc_error < 1e-3);
}

TEST_CASE("histogram bins are monotone and use both ends") {
  std::uint32_t last = 0;
  for (float p = 0; p < 1; p = std::nextafter(p * 1.001f, 2.0f)) {
    const std::uint32_t bin = AucHistogram::bin(p);
    REQUIRE(bin >= last);
    REQUIRE(bin < AucHistogram::kBins);
    last = bin;
  }
  CHECK(AucHistogram::bin(0) == 0);
  CHECK(AucHistogram::bin(1) == AucHistogram::kBins - 1);
  CHECK(AucHistogram::bin(1e-6f) != AucHistogram::bin(1.002e-6f));
  CHECK(AucHistogram::bin(1 - 1e-5f) != AucHistogram::bin(1 - 1.5e-5f));
}

TEST_CASE("an exact auc past its limit falls back to the histogram and says so") {
  const auto scored = make_scored(5000, 9, false);
  AucList list(1000), exact;
  for (const Scored& s : scored) {
    list.add(s.p, s.label > 0, s.importance);
    exact.add(s.p, s.label > 0, s.importance);
  }
  const AucValue value = list.value();
  CHECK(value.error > 0);
  CHECK(std::abs(value.auc - exact.value().auc) <= value.error);

  AucList merged(1000);
  merged.add(0.5f, true, 1);
  merged.merge(list);
  CHECK(merged.value().error > 0);
  merged.clear();
  merged.add(0.5f, true, 1);
  merged.add(0.4f, false, 1);
  CHECK(merged.value().auc == 1);
  CHECK(merged.value().error == 0);
}

TEST_CASE("merging parts gives the figures of the whole") {
  for (const AucKind kind : {AucKind::kHistogram, AucKind::kExact}) {
    const auto scored = make_scored(3000, 10, true);
    Metrics whole(kind), merged(kind), part(kind);
    add_all(whole, scored);
    for (std::size_t i = 0; i < scored.size(); ++i) {
      part.add(scored[i].p, scored[i].label, scored[i].importance);
      if (i % 700 != 0 && i + 1 != scored.size()) continue;
      merged.merge(part);
      part.clear();
    }
    const MetricsSnapshot a = whole.snapshot(), b = merged.snapshot();
    CHECK(b.examples == a.examples);
    CHECK(b.weight == a.weight);
    CHECK(b.logloss == Approx(a.logloss).epsilon(1e-12));
    CHECK(b.auc == Approx(a.auc).epsilon(1e-12));
    CHECK(b.calibration == Approx(a.calibration).epsilon(1e-12));
  }
}

TEST_CASE("predict-only examples and impossible predictions") {
  Metrics metrics;
  metrics.add(0.5f, 0, 1);
  metrics.add(0.5f, 1, 0);
  CHECK(metrics.snapshot().examples == 0);
  CHECK(std::isnan(metrics.snapshot().logloss));
  metrics.add(std::numeric_limits<float>::quiet_NaN(), 1, 1);
  metrics.add(std::numeric_limits<float>::infinity(), 1, 1);
  CHECK(metrics.snapshot().not_finite == 2);
  CHECK(metrics.snapshot().examples == 0);
  metrics.add(1, -1, 1);  // certain and wrong: finite
  metrics.add(0, 1, 1);
  metrics.add(2, 1, 1);  // as 1
  const MetricsSnapshot s = metrics.snapshot();
  CHECK(s.logloss == Approx(-2 * std::log(Metrics::kClamp) / 3));
  CHECK(s.mean_prediction == Approx(2.0 / 3));
}

TEST_CASE("json has null where a figure has no value") {
  Metrics metrics(AucKind::kExact);
  metrics.add(0.25f, -1, 1);
  const auto json = nlohmann::json::parse(metrics_json(metrics.snapshot(), true));
  CHECK(json["examples"] == 1);
  CHECK(json["auc"].is_null());
  CHECK(json["ne"].is_null());
  CHECK(json["rig"].is_null());
  CHECK(json["calibration"].is_null());
  CHECK(json["base_rate"] == 0.0);
  CHECK(json["logloss"] == Approx(-std::log(0.75)).margin(1e-6));
  CHECK_FALSE(json.contains("auc_error"));
  CHECK_FALSE(json.contains("not_finite"));
}

TEST_CASE("json keys and their order") {
  Metrics metrics;
  metrics.add(0.5f, 1, 1);
  metrics.add(0.25f, -1, 1);
  CHECK(metrics_json(metrics.snapshot(), true) ==
        R"({"examples":2,"logloss":0.490415,"auc":1.0,"ne":0.707519,"rig":0.292481,)"
        R"("calibration":0.75,"base_rate":0.5,"mean_prediction":0.375,"mean_label":0.5})");
}

TEST_CASE("windows close exactly, count apart, and add up to the total") {
  const auto scored = make_scored(250, 11, false);
  MetricsWindows windows(100);
  std::vector<nlohmann::json> lines;
  Metrics whole;
  add_all(whole, scored);
  double seconds = 0;
  for (const Scored& s : scored)
    if (windows.add(s.p, s.label, s.importance))
      lines.push_back(nlohmann::json::parse(windows.close(seconds += 2, 3 * lines.size())));
  REQUIRE(lines.size() == 2);
  CHECK(windows.pending());
  CHECK(windows.total().logloss == Approx(whole.snapshot().logloss));
  lines.push_back(nlohmann::json::parse(windows.close(seconds + 1, 6)));
  CHECK_FALSE(windows.pending());
  CHECK(lines[0]["window"] == 1);
  CHECK(lines[0]["examples"] == 100);
  CHECK(lines[0]["examples_per_second"] == 50.0);
  CHECK(lines[1]["bad_lines"] == 3);
  CHECK(lines[1]["examples_seen"] == 200);
  CHECK(lines[2]["examples"] == 50);
  CHECK(lines[2]["bad_lines"] == 3);
  CHECK(windows.examples() == 250);
  CHECK(windows.total().auc == Approx(whole.snapshot().auc));

  Metrics first;
  for (std::size_t i = 0; i < 100; ++i)
    first.add(scored[i].p, scored[i].label, scored[i].importance);
  CHECK(lines[0]["logloss"] == Approx(first.snapshot().logloss).margin(1e-6));
}

TEST_CASE("a window of merged chunks ends with the chunk that fills it") {
  MetricsWindows windows(100);
  Metrics chunk;
  for (int i = 0; i < 60; ++i) chunk.add(0.5f, i % 2 ? 1.0f : -1.0f, 1);
  CHECK_FALSE(windows.merge(chunk));
  CHECK(windows.merge(chunk));
  const auto line = nlohmann::json::parse(windows.close(1, 0));
  CHECK(line["examples"] == 120);
}

}  // namespace leveret::metrics
