#include "metrics/scores.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "metrics/reliability.h"
#include "metrics/slices.h"

namespace leveret::metrics {
namespace {

/// Clicks by a rate of each example; model 0 says the rate, model 1 something near it.
Scores random_scores(std::size_t examples, float noise, std::uint32_t seed,
                     std::size_t models = 2) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(0.01f, 0.99f);
  Scores scores(models);
  for (std::size_t i = 0; i < examples; ++i) {
    const float rate = std::max(unit(random) * unit(random), 0.01f);
    const float other = std::clamp(rate + noise * (unit(random) - 0.5f), 0.01f, 0.99f);
    scores.add({rate, other}, unit(random) < rate ? 1.0f : -1.0f, 1 + static_cast<float>(i % 3));
  }
  return scores;
}

bool holds(const Interval& interval, double value) {
  return interval.low <= value && value <= interval.high;
}

}  // namespace

TEST_CASE("figures of kept scores are those of Metrics") {
  Scores scores(2);
  Metrics metrics(AucKind::kExact);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(0, 1);
  for (int i = 0; i < 500; ++i) {
    const float p = i % 50 == 0 ? -0.5f : unit(random), label = static_cast<float>(i % 3) - 1;
    metrics.add(p, label, static_cast<float>(i % 4));
    scores.add({0.5f, p}, label, static_cast<float>(i % 4));
  }
  scores.add({0.5f, NAN}, 1, 1);
  metrics.add(NAN, 1, 1);
  const MetricsSnapshot a = metrics.snapshot(), b = scores.snapshot(1);
  CHECK(a.examples == b.examples);
  CHECK(a.logloss == b.logloss);
  CHECK(a.auc == b.auc);
  CHECK(a.calibration == b.calibration);
  CHECK(b.not_finite == 1);
  CHECK(scores.not_finite(0) == 0);
}

TEST_CASE("intervals hold the truth as often as they say") {
  // The mean loss of a known stream, from many small samples of it.
  double truth = 0;
  constexpr int kTrials = 120;
  truth = random_scores(400000, 0.2f, 99).snapshot(0).logloss;
  const MetricsSnapshot other = random_scores(400000, 0.2f, 99).snapshot(1);
  const double difference = other.logloss - truth, area = other.auc;
  int loss = 0, auc = 0, differences = 0;
  for (std::uint32_t t = 0; t < kTrials; ++t) {
    const ScoreIntervals found = bootstrap(random_scores(400, 0.2f, t), 2, 200);
    loss += holds(found.logloss.of[0], truth) ? 1 : 0;
    auc += holds(found.auc.of[1], area) ? 1 : 0;
    differences += holds(found.logloss.difference, difference) ? 1 : 0;
  }
  // 95 % of 120 are 114; four standard deviations are 9.6.
  for (const int hits : {loss, auc, differences}) {
    CHECK(hits >= 104);
    CHECK(hits < kTrials);
  }
}

TEST_CASE("samples are the same with any number of threads, and differ by the seed") {
  const Scores scores = random_scores(1001, 0.1f, 5);
  const Interval one = bootstrap(scores, 1, 100).auc.difference;
  const Interval five = bootstrap(scores, 5, 100).auc.difference;
  CHECK(one.low == five.low);
  CHECK(one.high == five.high);
  CHECK(bootstrap(scores, 1, 100, 7).auc.difference.low != one.low);
}

TEST_CASE("a model beside itself differs by nothing; paired intervals are narrow") {
  const Interval same = bootstrap(random_scores(500, 0, 3), 1, 100).logloss.difference;
  CHECK(same.low == 0);
  CHECK(same.high == 0);
  const FigureIntervals near = bootstrap(random_scores(500, 0.02f, 3), 1, 100).logloss;
  CHECK(near.difference.high - near.difference.low < 0.1 * (near.of[0].high - near.of[0].low));
}

TEST_CASE("a model with answers that are not finite is the worse one, whatever its figures are") {
  for (const std::size_t bad : {0, 1}) {
    Scores scores(2);
    for (int i = 0; i < 50; ++i) {
      const float label = i % 2 == 0 ? 1.0f : -1.0f;
      scores.add({0.5f, 0.5f + 0.4f * label}, label, 1);
    }
    Scores::Answers answers{0.5f, 0.5f};
    answers[bad] = NAN;
    const Standing before = standing_of(scores, bootstrap(scores, 1, 50), 0);
    CHECK(before == Standing::kBetter);
    scores.add(answers, 1, 1);
    const Standing standing = standing_of(scores, bootstrap(scores, 1, 50), 0);
    CHECK(standing == (bad == 1 ? Standing::kWorse : Standing::kBetter));
  }
}

TEST_CASE("figures without a value have no interval") {
  Scores clicks(1);
  CHECK(std::isnan(bootstrap(clicks, 1, 10).logloss.of[0].low));
  for (int i = 0; i < 20; ++i) clicks.add({0.3f, 0}, 1, 1);
  const ScoreIntervals found = bootstrap(clicks, 1, 10);
  CHECK(std::isnan(found.auc.of[0].low));
  CHECK(found.logloss.of[0].low == Approx(-std::log(0.3)).epsilon(1e-6));
}

TEST_CASE("reliability has bins of equal weight, which hold equal predictions together") {
  const std::vector<ReliabilityBin> bins = reliability(random_scores(20000, 0, 8), 0);
  REQUIRE(bins.size() == 10);
  std::uint64_t examples = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    examples += bins[i].examples;
    CHECK(bins[i].examples > 1800);
    CHECK(bins[i].examples < 2200);
    CHECK(bins[i].low <= bins[i].mean_prediction);
    CHECK(bins[i].mean_prediction <= bins[i].high);
    CHECK(bins[i].click_rate == Approx(bins[i].mean_prediction).margin(0.06));
    if (i > 0) CHECK(bins[i - 1].high < bins[i].low);
  }
  CHECK(examples == 20000);

  Scores two(1);
  for (int i = 0; i < 100; ++i) two.add({i < 90 ? 0.1f : 0.6f, 0}, i % 10 == 0 ? 1.0f : -1.0f, 1);
  const std::vector<ReliabilityBin> few = reliability(two, 0);
  REQUIRE(few.size() == 2);
  CHECK(few[0].examples == 90);
  CHECK(few[0].click_rate == Approx(0.1));
  CHECK(few[1].low == 0.6f);
  CHECK(reliability(Scores(1), 0).empty());
}

TEST_CASE("slices come by size, and the small ones together") {
  Slices slices(1);
  const std::pair<const char*, int> sizes[] = {{"b", 5}, {"a", 5}, {"c", 9}, {"d", 1}, {"e", 2}};
  for (const auto& [name, size] : sizes) {
    for (int i = 0; i < size; ++i) slices.add(name, {0.5f, 0}, i % 2 == 0 ? 1.0f : -1.0f, 1);
  }
  slices.add("unlabelled", {0.5f, 0}, 0, 1);
  const std::vector<Slice> all = std::move(slices).largest(3);
  REQUIRE(all.size() == 4);
  CHECK(all[0].name == "c");
  CHECK(all[1].name == "a");
  CHECK(all[2].name == "b");
  CHECK(all[3].name == Slices::kOthers);
  CHECK(all[3].scores.size() == 3);
}

}  // namespace leveret::metrics
