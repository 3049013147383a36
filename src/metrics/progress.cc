#include "metrics/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "text/plain_number.h"

namespace leveret::metrics {
namespace {

/// 1,234,567: long counts are read by people here.
std::string with_commas(std::uint64_t n) {
  std::string digits = fmt::format("{}", n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string decimal_or_dash(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-";
}

}  // namespace

ProgressInterval ProgressInterval::parse(std::string_view text) {
  if (text.find('.') != std::string_view::npos) {
    constexpr double kMost = std::numeric_limits<double>::max();
    const auto factor = text::read_real<double>(text, 1, kMost);
    if (factor && *factor > 1) return {*factor, true};
  } else if (const auto examples = text::read_whole(text, 1, text::kAnyWhole)) {
    return {static_cast<double>(*examples), false};
  }
  throw std::runtime_error(fmt::format(
      "--progress '{}': give a whole number of examples (1000) or a factor above 1 (1.5)", text));
}

std::string Progress::header() {
  return "average  since      example    example current current  current running running\n"
         "loss     last       counter     weight   label predict features     auc calibr.\n";
}

std::string Progress::line(std::uint64_t examples, const MetricsSnapshot& total, float label,
                           float prediction, std::uint64_t features) {
  const double weight = total.weight - last_weight_;
  const double since_last = weight > 0 ? (total.loss_sum - last_loss_sum_) / weight : std::nan("");
  last_loss_sum_ = total.loss_sum;
  last_weight_ = total.weight;
  const double n = static_cast<double>(examples);
  next_ = interval_.multiply ? n * interval_.step : n + interval_.step;
  return fmt::format("{:<8} {:<8} {:>9} {:>10.1f} {:>7} {:>7.4f} {:>8} {:>7} {:>6}\n",
                     decimal_or_dash(total.logloss, 6), decimal_or_dash(since_last, 6), examples,
                     total.weight, label == 0 ? "unknown" : fmt::format("{:.4f}", label),
                     prediction, features, decimal_or_dash(total.auc, 4),
                     decimal_or_dash(total.calibration, 4));
}

std::string Progress::held_out_line(std::uint64_t examples, const MetricsSnapshot& held_out,
                                    std::uint32_t pass, bool is_best) {
  return fmt::format("{:<8} {:<8} {:>9} {:>10.1f} {:>7} {:>7} {:>8} {:>7} {:>6} h\n",
                     decimal_or_dash(held_out.logloss, 6), is_best ? "best" : "-", examples,
                     held_out.weight, fmt::format("pass {}", pass), "held", "-",
                     decimal_or_dash(held_out.auc, 4), decimal_or_dash(held_out.calibration, 4));
}

void ProgressBar::begin_pass(std::optional<std::uint64_t> bytes, double seconds) {
  pass_ = std::min(pass_ + 1, passes_);
  pass_bytes_ = bytes;
  pass_began_ = seconds;
}

std::string ProgressBar::render(std::uint64_t bytes, std::uint64_t examples, double seconds,
                                int columns) {
  next_ = seconds + 0.1;
  const double rate = seconds > 0 ? static_cast<double>(examples) / seconds : 0;
  const std::string speed =
      fmt::format("{} examples, {}/s, ", with_commas(examples),
                  with_commas(static_cast<std::uint64_t>(std::llround(rate))));
  const auto most = static_cast<std::size_t>(std::max(0, columns));
  if (!pass_bytes_) return (speed + format_duration(seconds)).substr(0, most);
  // A file that grows while it is read must not show more than all of it.
  const double pass_done =
      *pass_bytes_ > 0
          ? std::min(1.0, static_cast<double>(bytes) / static_cast<double>(*pass_bytes_))
          : 1.0;
  const double done = (pass_ - 1 + pass_done) / passes_;
  const double pass_takes = (seconds - pass_began_) / pass_done;
  const double passes_left = passes_ - pass_ + (1 - pass_done);
  const std::string left = pass_done > 0 ? format_duration(pass_takes * passes_left) : "-:--";
  const std::string percent = fmt::format("{:3.0f} %", 100 * done);
  const std::string tail = fmt::format(" {}{} left", speed, left);
  const int room = columns - static_cast<int>(percent.size() + tail.size()) - 4;
  if (room < 5) return (percent + tail).substr(0, most);
  const auto width = static_cast<std::size_t>(std::min(room, 50));
  const auto filled = static_cast<std::size_t>(done * static_cast<double>(width));
  return fmt::format("{} [{}{}]{}", percent, std::string(filled, '#'),
                     std::string(width - filled, '.'), tail);
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds >= 1e9) return "-:--";
  const auto s = static_cast<std::uint64_t>(std::llround(std::max(0.0, seconds)));
  const std::uint64_t minutes = s / 60, hours = s / 3600, days = s / 86400;
  if (days > 0) return fmt::format("{}d {}h", days, hours % 24);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes % 60, s % 60);
  return fmt::format("{}:{:02}", minutes, s % 60);
}

}  // namespace leveret::metrics
