/// The facts for pages about the server itself: what all threads have counted, and the last
/// minutes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/counters.h"
#include "daemon/models.h"
#include "daemon/worker.h"

namespace leveret::daemon {

/// The counts of a model, or of all, by all threads.
struct Totals {
  std::uint64_t requests = 0, predictions = 0, bad = 0, unknown_namespaces = 0;
  std::uint64_t contexts_found = 0, contexts_made = 0;
  std::uint64_t skew_windows = 0, skewed_windows = 0, strange_namespaces = 0;
  std::uint64_t missing_namespaces = 0, features = 0, unknown_features = 0;
  Latencies::Counts latencies = {};
  double seconds = 0;  ///< of all requests

  void add(const ModelCounts& counts);
};

/// The requests between two moments.
struct Interval {
  std::chrono::system_clock::time_point end;
  double seconds = 0;
  std::uint64_t requests = 0, predictions = 0, errors = 0;
  double median = 0, p99 = 0;  ///< latency, seconds; 0 without requests
};

/// Seconds within which a share of the requests were answered: within their class the share is
/// taken to grow evenly. 0 without requests.
double quantile(const Latencies::Counts& counts, double share);

/// Any number of threads.
class Site {
 public:
  /// `workers` are all there will be; all outlive it.
  Site(const Models& models, std::vector<const Worker*> workers, std::string version);

  const Models& models() const { return models_; }
  const std::string& version() const { return version_; }
  double seconds_up() const;

  Totals totals(std::size_t model) const;
  Totals totals() const;
  /// A sum of one of the counts over all threads.
  std::uint64_t sum(Count ThreadCounts::*count) const;
  std::uint64_t open_connections() const;

  /// An interval ends; to be called every kInterval.
  void note_interval();
  std::vector<Interval> intervals() const;  ///< oldest first
  static constexpr std::chrono::seconds kInterval{5};

 private:
  const Models& models_;
  const std::vector<const Worker*> workers_;
  const std::string version_;
  const std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::deque<Interval> intervals_;
  Totals last_;
  std::uint64_t last_failed_ = 0;
  std::chrono::steady_clock::time_point last_time_;
};

/// In Prometheus' text format 0.0.4.
std::string metrics_text(const Site& site);
/// The figures of the status page, as JSON.
std::string status_json(const Site& site);
/// The status page, HTML that loads nothing but status_json from /status.json.
std::string_view status_page();
/// "name", "fingerprint" and "sequence" of a version, members of an object of JSON.
std::string version_members(const std::string& name, const serve::Served& served);
/// The facts about a model: name, fingerprint, sequence, fields, counts of unknown names.
std::string model_json(const Site& site, std::size_t model);

}  // namespace leveret::daemon
