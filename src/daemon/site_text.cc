/// The server about itself: metrics, and what the status page shows.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "daemon/json_request.h"
#include "daemon/site.h"
#include "metrics/exposition.h"
#include "store/checksum.h"

namespace leveret::daemon {
namespace {

/// Bytes; 0 where the system does not tell.
std::uint64_t resident_memory() {
  std::uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t unix_seconds(std::chrono::system_clock::time_point time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

using metrics::Exposition;
using metrics::labels;

void add_histogram(Exposition& text, const std::string& model, const Totals& totals) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < Latencies::kClasses; ++i) {
    below += totals.latencies[i];
    const bool last = i == Latencies::kBounds.size();
    const std::string bound = last ? "+Inf" : fmt::format("{}", Latencies::kBounds[i]);
    text.value(labels({{"model", model}, {"le", bound}}), below, "_bucket");
  }
  text.value(labels({{"model", model}}), totals.seconds, "_sum");
  text.value(labels({{"model", model}}), below, "_count");
}

/// By model.
struct ModelMetric {
  const char* name;
  const char* help;
  std::uint64_t Totals::*count;
};
constexpr ModelMetric kModelMetrics[] = {
    {"leveret_requests_total", "HTTP requests, and groups of lines that arrived together.",
     &Totals::requests},
    {"leveret_predictions_total", "Lines and candidates that were scored.", &Totals::predictions},
    {"leveret_bad_lines_total", "Lines and candidates that are no examples.", &Totals::bad},
    {"leveret_unknown_namespaces_total",
     "Namespaces of lines, contexts and candidates that the model does not know.",
     &Totals::unknown_namespaces},
    {"leveret_contexts_found_total", "Contexts that were still cached when they came again.",
     &Totals::contexts_found},
    {"leveret_contexts_made_total", "Contexts that were made.", &Totals::contexts_made},
    {"leveret_skew_windows_total",
     "Windows of 1,000 lines that were compared with what the model has learned.",
     &Totals::skew_windows},
    {"leveret_skewed_windows_total", "Windows with skew.", &Totals::skewed_windows},
    {"leveret_strange_namespaces_total",
     "Namespaces of the lines of these windows that the model has never met.",
     &Totals::strange_namespaces},
    {"leveret_missing_namespaces_total",
     "Namespaces that half of the learned examples had and these lines lack.",
     &Totals::missing_namespaces},
    {"leveret_features_total", "Features of these lines.", &Totals::features},
    {"leveret_unknown_features_total", "Features of these lines that the model does not know.",
     &Totals::unknown_features},
};

struct ThreadMetric {
  const char* name;
  const char* labels;
  const char* help;  ///< null: as the one before
  Count ThreadCounts::*count;
};
constexpr ThreadMetric kThreadMetrics[] = {
    {"leveret_connections_total", "", "Connections that were taken.",
     &ThreadCounts::connections_opened},
    {"leveret_connections_timed_out_total", "while=\"idle\"",
     "Connections that the server has closed.", &ThreadCounts::closed_idle},
    {"leveret_connections_timed_out_total", "while=\"in_request\"", nullptr,
     &ThreadCounts::closed_slow},
    {"leveret_http_answers_total", "code=\"2xx\"", "Answers to HTTP.", &ThreadCounts::http_ok},
    {"leveret_http_answers_total", "code=\"4xx\"", nullptr, &ThreadCounts::http_refused},
    {"leveret_http_answers_total", "code=\"5xx\"", nullptr, &ThreadCounts::http_failed},
};

/// Strangers are not told where files lie: of each absolute path the last part is left.
std::string without_folders(std::string_view text) {
  constexpr std::string_view kAround = " \t\n\"'`(),;:";
  std::string left;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kAround), text.size());
    std::string_view word = text.substr(0, end);
    if (word.starts_with('/')) {
      while (word.size() > 1 && word.ends_with('/')) word.remove_suffix(1);
      word.remove_prefix(word.rfind('/') + 1);
    }
    left += word;
    if (end < text.size()) left += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return left;
}

std::string members(const Totals& totals) {
  return fmt::format(
      "\"requests\":{},\"predictions\":{},\"bad\":{},\"unknown_namespaces\":{},"
      "\"contexts_found\":{},\"contexts_made\":{}",
      totals.requests, totals.predictions, totals.bad, totals.unknown_namespaces,
      totals.contexts_found, totals.contexts_made);
}

}  // namespace

std::string metrics_text(const Site& site) {
  Exposition text;
  const Models& models = site.models();
  std::vector<Totals> totals;
  for (std::size_t i = 0; i < models.size(); ++i) totals.push_back(site.totals(i));
  const auto of = [&](std::size_t i) { return labels({{"model", models[i].name}}); };
  for (const ModelMetric& metric : kModelMetrics) {
    text.start(metric.name, "counter", metric.help);
    for (std::size_t i = 0; i < models.size(); ++i) text.value(of(i), totals[i].*metric.count);
  }
  text.start("leveret_request_seconds", "histogram", "Seconds from a request's end to its answer.");
  for (std::size_t i = 0; i < models.size(); ++i) add_histogram(text, models[i].name, totals[i]);
  text.start("leveret_swaps_total", "counter", "New versions of models.");
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string& name = models[i].name;
    text.value(labels({{"model", name}, {"done", "yes"}}), models.swaps_done(i));
    text.value(labels({{"model", name}, {"done", "no"}}), models.swaps_failed(i));
  }
  text.start("leveret_model_info", "gauge", "The version that is served.");
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto served = models[i].place->get();
    if (served->is_nothing()) continue;
    const std::string fingerprint = store::to_hex(served->fingerprint());
    text.value(labels({{"model", models[i].name}, {"fingerprint", fingerprint}}), std::uint64_t{1});
  }
  text.start("leveret_model_sequence", "gauge", "Examples that the model has learned.");
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::uint64_t sequence = models[i].place->get()->sequence();
    if (sequence != modelfile::kNoSequence) text.value(of(i), sequence);
  }
  text.start("leveret_model_step", "gauge", "Step of the folder of leveret publish.");
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::uint64_t step = models.version(i).step;
    if (step > 0) text.value(of(i), step);
  }
  text.start("leveret_model_loaded_timestamp_seconds", "gauge",
             "When this version came, in seconds since 1970.");
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (models[i].place->get()->is_nothing()) continue;
    text.value(of(i), unix_seconds(models.version(i).loaded));
  }
  text.start("leveret_model_memory_bytes", "gauge", "Bytes that the model's tables take.");
  for (std::size_t i = 0; i < models.size(); ++i) {
    text.value(of(i), models[i].place->get()->memory());
  }
  for (const ThreadMetric& metric : kThreadMetrics) {
    if (metric.help != nullptr) text.start(metric.name, "counter", metric.help);
    text.value(metric.labels, site.sum(metric.count));
  }
  text.one("leveret_connections", "gauge", "Connections that are open.", site.open_connections());
  text.one("leveret_uptime_seconds", "gauge", "Seconds since the start.", site.seconds_up());
  text.one("process_resident_memory_bytes", "gauge", "Resident memory.", resident_memory());
  return text.text();
}

std::string version_members(const std::string& name, const serve::Served& served) {
  const std::uint64_t sequence = served.sequence();
  return fmt::format("\"name\":{},\"fingerprint\":\"{}\",\"sequence\":{}", json_string(name),
                     served.is_nothing() ? "" : store::to_hex(served.fingerprint()),
                     sequence == modelfile::kNoSequence ? "null" : fmt::format("{}", sequence));
}

std::string model_json(const Site& site, std::size_t model) {
  const NamedModel& named = site.models()[model];
  const auto served = named.place->get();
  const Models::Version version = site.models().version(model);
  return fmt::format(
      "{{{},\"step\":{},\"loaded\":{},\"path\":{},\"fields\":{},\"swaps\":{},\"swaps_failed\":{},{}"
      "}}",
      version_members(named.name, *served),
      version.step > 0 ? fmt::format("{}", version.step) : "null",
      served->is_nothing() ? "null" : fmt::format("{}", unix_seconds(version.loaded)),
      json_string(without_folders(named.path)), served->fields(), site.models().swaps_done(model),
      site.models().swaps_failed(model), members(site.totals(model)));
}

std::string status_json(const Site& site) {
  std::string text = fmt::format(
      "{{\"version\":{},\"uptime\":{:.0f},\"connections\":{},\"memory\":{},\"models\":[",
      json_string(site.version()), site.seconds_up(), site.open_connections(), resident_memory());
  for (std::size_t i = 0; i < site.models().size(); ++i) {
    text += (i > 0 ? "," : "") + model_json(site, i);
  }
  text += "],\"recent\":[";
  const char* comma = "";
  for (const Interval& interval : site.intervals()) {
    text += fmt::format(
        "{}{{\"time\":{},\"seconds\":{:.3f},\"requests\":{},\"predictions\":{},\"errors\":{},"
        "\"median\":{:.6f},\"p99\":{:.6f}}}",
        comma, unix_seconds(interval.end), interval.seconds, interval.requests,
        interval.predictions, interval.errors, interval.median, interval.p99);
    comma = ",";
  }
  text += "],\"swaps\":[";
  comma = "";
  for (const Swap& swap : site.models().swaps()) {
    text += fmt::format("{}{{\"time\":{},\"model\":{},\"done\":{},\"what\":{},\"seconds\":{:.3f}}}",
                        comma, unix_seconds(swap.time), json_string(swap.model), swap.done,
                        json_string(without_folders(swap.what)), swap.seconds);
    comma = ",";
  }
  return text + "]}\n";
}

}  // namespace leveret::daemon
