#include "figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace leveret::load {

void Histogram::add(std::chrono::nanoseconds time, std::uint64_t times) {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  // Below 64 ns a class each; then 64 for each power of two.
  const unsigned shift =
      std::max(static_cast<unsigned>(std::bit_width(value)), kBits + 1) - kBits - 1;
  classes_[(static_cast<std::size_t>(shift) << kBits) + (value >> shift)] += times;
  count_ += times;
  max_ = std::max(max_, value);
}

double Histogram::quantile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < classes_.size() && count_ > 0; ++i) {
    below += classes_[i];
    if (below < std::max<std::uint64_t>(wanted, 1)) continue;
    const std::size_t shift = i < (2u << kBits) ? 0 : (i >> kBits) - 1;
    const std::uint64_t end = (static_cast<std::uint64_t>(i - (shift << kBits)) + 1) << shift;
    return std::min(static_cast<double>(end) * 1e-9, max());
  }
  return 0;
}

std::string Figures::json() const {
  std::string by_version;
  for (const auto& [fingerprint, count] : versions) {
    by_version += fmt::format("{}\"{}\":{}", by_version.empty() ? "" : ",", fingerprint, count);
  }
  const double time = std::max(seconds, 1e-9);
  return fmt::format(
      "{{\"rate\":{:.1f},\"candidates_per_s\":{:.0f},\"p50\":{:.3f},\"p99\":{:.3f},\"max\":{:.3f},"
      "\"errors\":{},\"lost\":{},\"wrong\":{},\"sent\":{},\"answered\":{},\"unsent\":{},"
      "\"seconds\":{:.2f},\"versions\":{{{}}}}}",
      static_cast<double>(counted) / time, static_cast<double>(candidates) / time,
      latency.quantile(.5) * 1e3, latency.quantile(.99) * 1e3, latency.max() * 1e3, errors, lost,
      wrong, sent, answered, unsent, seconds, by_version);
}

}  // namespace leveret::load
