#include "daemon/site.h"

#include <utility>

namespace leveret::daemon {
namespace {

constexpr std::size_t kIntervalsKept = 180;  // a quarter of an hour

Latencies::Counts since(const Latencies::Counts& now, const Latencies::Counts& before) {
  Latencies::Counts counts = now;
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= before[i];
  return counts;
}

}  // namespace

void Totals::add(const ModelCounts& counts) {
  requests += counts.requests.get();
  predictions += counts.predictions.get();
  bad += counts.bad.get();
  unknown_namespaces += counts.unknown_namespaces.get();
  contexts_found += counts.contexts_found.get();
  contexts_made += counts.contexts_made.get();
  skew_windows += counts.skew_windows.get();
  skewed_windows += counts.skewed_windows.get();
  strange_namespaces += counts.strange_namespaces.get();
  missing_namespaces += counts.missing_namespaces.get();
  features += counts.features.get();
  unknown_features += counts.unknown_features.get();
  seconds += counts.latencies.add_to(latencies);
}

double quantile(const Latencies::Counts& counts, double share) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts) all += count;
  if (all == 0) return 0;
  double left = share * static_cast<double>(all);
  for (std::size_t i = 0; i < Latencies::kBounds.size(); ++i) {
    const auto count = static_cast<double>(counts[i]);
    const double low = i > 0 ? Latencies::kBounds[i - 1] : 0;
    if (count > 0 && left <= count) return low + (Latencies::kBounds[i] - low) * left / count;
    left -= count;
  }
  return Latencies::kBounds.back();
}

Site::Site(const Models& models, std::vector<const Worker*> workers, std::string version)
    : models_(models),
      workers_(std::move(workers)),
      version_(std::move(version)),
      start_(std::chrono::steady_clock::now()),
      last_time_(start_) {}

double Site::seconds_up() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Totals Site::totals(std::size_t model) const {
  Totals totals;
  for (const Worker* const worker : workers_) totals.add(worker->counts(model));
  return totals;
}

Totals Site::totals() const {
  Totals totals;
  for (const Worker* const worker : workers_) {
    for (std::size_t i = 0; i < models_.size(); ++i) totals.add(worker->counts(i));
  }
  return totals;
}

std::uint64_t Site::sum(Count ThreadCounts::*count) const {
  std::uint64_t all = 0;
  for (const Worker* const worker : workers_) all += (worker->counts().*count).get();
  return all;
}

std::uint64_t Site::open_connections() const {
  const std::uint64_t closed = sum(&ThreadCounts::connections_closed);
  return sum(&ThreadCounts::connections_opened) - closed;
}

void Site::note_interval() {
  const auto now = std::chrono::steady_clock::now();
  const Totals totals = this->totals();
  const std::uint64_t failed = sum(&ThreadCounts::http_refused) + sum(&ThreadCounts::http_failed);
  const std::lock_guard lock(mutex_);
  Interval interval;
  interval.end = std::chrono::system_clock::now();
  interval.seconds = std::chrono::duration<double>(now - last_time_).count();
  interval.requests = totals.requests - last_.requests;
  interval.predictions = totals.predictions - last_.predictions;
  interval.errors = totals.bad - last_.bad + failed - last_failed_;
  const Latencies::Counts latencies = since(totals.latencies, last_.latencies);
  interval.median = quantile(latencies, 0.5);
  interval.p99 = quantile(latencies, 0.99);
  intervals_.push_back(interval);
  if (intervals_.size() > kIntervalsKept) intervals_.pop_front();
  last_ = totals;
  last_failed_ = failed;
  last_time_ = now;
}

std::vector<Interval> Site::intervals() const {
  const std::lock_guard lock(mutex_);
  return {intervals_.begin(), intervals_.end()};
}

}  // namespace leveret::daemon
