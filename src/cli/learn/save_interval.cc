#include "cli/learn/save_interval.h"

#include <charconv>
#include <system_error>

namespace leveret::cli {

std::optional<SaveInterval> SaveInterval::parse(std::string_view text) {
  constexpr std::uint64_t kMost = 1'000'000'000'000'000;  // seconds of any unit fit as well
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number == 0 || number > kMost) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  SaveInterval interval;
  if (unit.empty()) {
    interval.examples = number;
  } else if (unit == "s") {
    interval.time = std::chrono::seconds(number);
  } else if (unit == "min" || unit == "m") {
    interval.time = std::chrono::seconds(60 * number);
  } else if (unit == "h") {
    interval.time = std::chrono::seconds(3600 * number);
  } else {
    return std::nullopt;
  }
  return interval;
}

}  // namespace leveret::cli
