// Figures of the status page and of metrics.
#include "daemon/site.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "golden_path.h"

namespace leveret::daemon {
namespace {

using namespace std::chrono_literals;

TEST_CASE("Latencies come into their classes, and quantiles out of them", "[daemon]") {
  Latencies latencies;
  Latencies::Counts counts = {};
  CHECK(quantile(counts, 0.5) == 0);
  for (int i = 0; i < 98; ++i) latencies.add(200us);
  latencies.add(30ms);
  latencies.add(10s);
  CHECK(latencies.add_to(counts) == Approx(98 * 200e-6 + 0.03 + 10));
  CHECK(counts[3] == 98);
  CHECK(counts.back() == 1);
  CHECK(quantile(counts, 0.5) > 1e-4);
  CHECK(quantile(counts, 0.5) <= 25e-5);
  CHECK(quantile(counts, 0.99) == Approx(0.05));
  CHECK(quantile(counts, 1.0) == 2.5);  // all that is known of it
}

TEST_CASE("Counts of threads add up, and intervals hold what came between", "[daemon]") {
  const Models models({"one=" + golden_path("model-v1.lvt")});
  const ScorerOptions options;
  Worker a(models, options, 0), b(models, options, 0);
  Site site(models, {&a, &b}, "9.9");
  a.scorer(0)->counts().predictions.add(5);
  b.scorer(0)->counts().predictions.add(2);
  b.scorer(0)->counts().bad.add();
  a.counts().connections_opened.add(3);
  a.counts().connections_closed.add();
  CHECK(site.totals(0).predictions == 7);
  CHECK(site.totals().bad == 1);
  CHECK(site.open_connections() == 2);
  site.note_interval();
  a.scorer(0)->counts().predictions.add(1);
  site.note_interval();
  const std::vector<Interval> intervals = site.intervals();
  REQUIRE(intervals.size() == 2);
  CHECK(intervals[0].predictions == 7);
  CHECK(intervals[0].errors == 1);
  CHECK(intervals[1].predictions == 1);
  CHECK(intervals[1].errors == 0);
  const std::string text = metrics_text(site);
  CHECK(text.find("leveret_predictions_total{model=\"one\"} 8\n") != std::string::npos);
  CHECK(text.find("leveret_request_seconds_bucket{model=\"one\",le=\"+Inf\"} 0\n") !=
        std::string::npos);
  CHECK(text.find("leveret_connections 2\n") != std::string::npos);
}

}  // namespace
}  // namespace leveret::daemon
