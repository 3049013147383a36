// Figures of the status page and of metrics.
#include "daemon/site.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>

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

TEST_CASE("The version that is served has a step and a time, and its path no folder", "[daemon]") {
  Models models({"one=" + std::filesystem::absolute(golden_path("model-v1.lvt")).string()});
  Site site(models, {}, "9.9");
  CHECK(metrics_text(site).find("leveret_model_step{") == std::string::npos);
  CHECK(models.version(0).loaded.time_since_epoch() > 0s);
  const std::string first = model_json(site, 0);
  CHECK(first.find("\"step\":null,") != std::string::npos);
  CHECK(first.find("\"path\":\"model-v1.lvt\"") != std::string::npos);
  Swap swap;
  swap.time = std::chrono::system_clock::from_time_t(1'700'000'000);
  swap.model = "one";
  swap.done = true;
  swap.step = 7;
  models.note(swap);
  swap.done = false;
  swap.step = 0;
  swap.what = "\"/srv/some where/in\": cannot open /srv/models/8.lvt/: a / b";
  models.note(swap);
  const std::string text = metrics_text(site);
  CHECK(text.find("leveret_model_step{model=\"one\"} 7\n") != std::string::npos);
  CHECK(text.find("leveret_model_loaded_timestamp_seconds{model=\"one\"} 1700000000\n") !=
        std::string::npos);
  CHECK(model_json(site, 0).find("\"step\":7,\"loaded\":1700000000,") != std::string::npos);
  CHECK(status_json(site).find("cannot open 8.lvt: a  b") != std::string::npos);
  CHECK(status_json(site).find("/srv") == std::string::npos);
}

}  // namespace
}  // namespace leveret::daemon
