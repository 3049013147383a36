/// Metrics in Prometheus' text format: what /metrics answers, and what the textfile collector of
/// its node exporter reads.
///
///   Exposition text;
///   text.start("leveret_requests_total", "counter", "Requests that came.");
///   text.value(labels({{"model", name}}), count);
///
/// Braces are put around them where they are written.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace leveret::metrics {

/// `name="value",…`, with what the format escapes in values escaped.
std::string labels(std::initializer_list<std::pair<std::string_view, std::string_view>> all);

/// One thread.
class Exposition {
 public:
  /// `common`: labels of all values.
  explicit Exposition(std::string common = {}) : common_(std::move(common)) {}

  /// From now on values are of this metric. `type`: "counter", "gauge" or "histogram".
  void start(std::string_view name, std::string_view type, std::string_view help);
  /// `suffix`: behind the name, as in those of a histogram. No line for a number that is NaN.
  void value(std::string_view labels, double number, std::string_view suffix = "");
  void value(std::string_view labels, std::uint64_t number, std::string_view suffix = "");
  /// The same of a metric with one value alone.
  template <class Number>
  void one(std::string_view name, std::string_view type, std::string_view help, Number number) {
    start(name, type, help);
    value("", number);
  }

  const std::string& text() const { return text_; }

 private:
  std::string with_labels(std::string_view suffix, std::string_view labels) const;

  const std::string common_;
  std::string text_;
  std::string name_;
};

}  // namespace leveret::metrics
