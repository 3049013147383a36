#include "cli/score/figures.h"

#include <fmt/format.h>

#include <cmath>

#include "metrics/figures_json.h"
#include "stream/bad_lines.h"

namespace leveret::cli {

std::string figure_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.6f}", value) : "-";
}

std::string difference_text(double value) {
  return std::isfinite(value) ? fmt::format("{:+.6f}", value) : "-";
}

std::string interval_text(const metrics::Interval& interval) {
  if (!std::isfinite(interval.low)) return "-";
  return fmt::format("{:+.6f} .. {:+.6f}", interval.low, interval.high);
}

std::string range_text(const metrics::Interval& interval) {
  if (!std::isfinite(interval.low)) return "-";
  return fmt::format("{:.6f} .. {:.6f}", interval.low, interval.high);
}

nlohmann::ordered_json interval_json(const metrics::Interval& interval) {
  return {metrics::rounded(interval.low), metrics::rounded(interval.high)};
}

std::string json_line(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string cut(const std::string& name, std::size_t width) {
  const std::string text = stream::escaped(name);
  return text.size() <= width ? text : text.substr(0, width - 1) + "~";
}

}  // namespace leveret::cli
