#include "metrics/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "metrics/figures_json.h"

namespace leveret::metrics {
namespace {

using Json = nlohmann::ordered_json;

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

/// Entropy in nats of a coin with probability p; 0 at 0 and 1, where nothing is left to explain.
double entropy(double p) {
  if (!(p > 0 && p < 1)) return 0;
  return -(p * std::log(p) + (1 - p) * std::log1p(-p));
}

}  // namespace

void Metrics::add(float probability, float label, float importance) {
  if (label == 0 || !(importance > 0)) return;
  if (!std::isfinite(probability)) {
    ++not_finite_;
    return;
  }
  const bool positive = label > 0;
  const float p = std::clamp(probability, 0.0f, 1.0f);
  const double right = positive ? double{p} : 1.0 - double{p};
  const double weight = importance;
  ++examples_;
  weight_ += weight;
  clicks_ += positive ? weight : 0;
  predictions_ += weight * p;
  loss_ -= weight * std::log(std::max(right, kClamp));
  if (kind_ == AucKind::kExact)
    list_.add(p, positive, importance);
  else
    histogram_.add(p, positive, weight);
}

void Metrics::merge(const Metrics& other) {
  examples_ += other.examples_;
  not_finite_ += other.not_finite_;
  weight_ += other.weight_;
  clicks_ += other.clicks_;
  predictions_ += other.predictions_;
  loss_ += other.loss_;
  histogram_.merge(other.histogram_);
  list_.merge(other.list_);
}

void Metrics::clear() {
  examples_ = not_finite_ = 0;
  weight_ = clicks_ = predictions_ = loss_ = 0;
  histogram_.clear();
  list_.clear();
}

MetricsSnapshot Metrics::snapshot() {
  const AucValue auc = kind_ == AucKind::kExact ? list_.value() : histogram_.value();
  MetricsSnapshot s;
  s.examples = examples_;
  s.not_finite = not_finite_;
  s.weight = weight_;
  s.loss_sum = loss_;
  s.logloss = ratio(loss_, weight_);
  s.auc = auc.auc;
  s.auc_error = auc.error;
  s.base_rate = ratio(clicks_, weight_);
  s.mean_label = s.base_rate;
  s.mean_prediction = ratio(predictions_, weight_);
  s.ne = ratio(s.logloss, entropy(s.base_rate));
  s.rig = 1 - s.ne;
  s.calibration = ratio(predictions_, clicks_);
  return s;
}

std::string metrics_json(const MetricsSnapshot& snapshot, bool exact_auc) {
  return figures_json(snapshot, exact_auc).dump();
}

std::string held_out_json(std::uint32_t pass, const MetricsSnapshot& held_out,
                          std::uint32_t best_pass) {
  Json json;
  json["pass"] = pass;
  json["held_out_logloss"] = rounded(held_out.logloss);
  json["held_out_auc"] = rounded(held_out.auc);
  json["held_out_examples"] = held_out.examples;
  put_not_finite(json, held_out);
  json["best_pass"] = best_pass > 0 ? Json(best_pass) : Json(nullptr);
  return json.dump();
}

std::string MetricsWindows::close(double seconds, std::uint64_t bad_lines) {
  const MetricsSnapshot s = window_.snapshot();
  closed_.merge(window_);
  window_.clear();
  Json json;
  json["window"] = ++windows_;
  put_figures(json, s);
  json["examples_per_second"] = rounded(std::round(ratio(s.examples, seconds - seconds_)));
  json["bad_lines"] = bad_lines - bad_lines_;
  json["examples_seen"] = closed_.examples();
  put_not_finite(json, s);
  seconds_ = seconds;
  bad_lines_ = bad_lines;
  return json.dump();
}

MetricsSnapshot MetricsWindows::total() {
  // Without a copy of the histogram for those who asked for no windows.
  if (windows_ == 0) return window_.snapshot();
  Metrics all = closed_;
  all.merge(window_);
  return all.snapshot();
}

}  // namespace leveret::metrics
