#include "cli/ship/publish_metrics.h"

#include <ctime>
#include <exception>
#include <optional>

#include "metrics/exposition.h"
#include "publish/manifest.h"

namespace leveret::cli {
namespace {

using metrics::labels;

void add_measured(metrics::Exposition& text, const std::vector<publish::Measured>& measured) {
  const auto of = [](const publish::Measured& one) {
    return labels({{"file", one.file}, {"metric", one.metric}, {"limit", one.limit}});
  };
  if (measured.empty()) return;
  text.start("leveret_publish_gate_value", "gauge", "The metric of the last model that was tried.");
  for (const publish::Measured& one : measured) text.value(of(one), one.value);
  text.start("leveret_publish_gate_holds", "gauge", "Whether it held its limit.");
  for (const publish::Measured& one : measured) text.value(of(one), std::uint64_t{one.holds});
}

void add_newest(metrics::Exposition& text, const std::string& folder) try {
  const std::optional<publish::Manifest> manifest = publish::read_manifest(folder);
  if (!manifest || manifest->empty()) return;
  const publish::Entry& newest = manifest->newest();
  text.one("leveret_publish_step", "gauge", "The newest step of the folder.", newest.step);
  if (newest.sequence == modelfile::kNoSequence) return;
  text.one("leveret_publish_sequence", "gauge", "Examples that its model has learned.",
           newest.sequence);
} catch (const std::exception&) {  // told by who publishes
}

}  // namespace

std::string PublishMetrics::text() const {
  metrics::Exposition text(labels({{"folder", folder_}}));
  text.start("leveret_publish_models_total", "counter", "Models that were tried.");
  text.value(labels({{"outcome", "published"}}), published_);
  text.value(labels({{"outcome", "refused"}}), refused_);
  text.value(labels({{"outcome", "same"}}), same_);
  text.value(labels({{"outcome", "failed"}}), failed_);
  text.one("leveret_publish_refused", "gauge", "Whether a gate has refused the last model.",
           std::uint64_t{is_refused_});
  text.one("leveret_publish_tried_timestamp_seconds", "gauge",
           "When the last model was tried, in seconds since 1970.", tried_);
  add_newest(text, folder_);
  add_measured(text, measured_);
  return text.text();
}

void PublishMetrics::add(const publish::Published& published) {
  using What = publish::Published::What;
  is_refused_ = published.what == What::kRefused;
  ++(published.what == What::kNew ? published_ : is_refused_ ? refused_ : same_);
  measured_ = published.measured;
  write();
}

void PublishMetrics::add_failure() {
  ++failed_;
  is_refused_ = false;
  measured_.clear();
  write();
}

void PublishMetrics::write() {
  tried_ = static_cast<std::uint64_t>(std::time(nullptr));
  if (file_.wanted()) file_.write(text());
}

}  // namespace leveret::cli
