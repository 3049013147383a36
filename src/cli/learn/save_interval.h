/// --save_every: after how many examples, or how much time, a checkpoint is due.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace leveret::cli {

struct SaveInterval {
  std::uint64_t examples = 0;    ///< 0: does not matter
  std::chrono::seconds time{0};  ///< 0: does not matter

  bool given() const { return examples > 0 || time.count() > 0; }
  /// "10000": examples; "30s", "5min", "5m", "2h": time. Nothing for what is neither.
  static std::optional<SaveInterval> parse(std::string_view text);
};

}  // namespace leveret::cli
