/// Figures of parts of the examples: those of one country, of one device.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "metrics/scores.h"

namespace leveret::metrics {

struct Slice {
  std::string name;
  Scores scores;
};

/// One owner.
class Slices {
 public:
  static constexpr const char* kOthers = "(others)";

  /// As Scores.
  explicit Slices(std::size_t models) : empty_(models) {}

  void add(std::string_view slice, const Scores::Answers& probabilities, float label,
           float importance);

  /// Those with most examples, most first, at most so many; then all others as one.
  std::vector<Slice> largest(std::size_t most) &&;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  const Scores empty_;
  std::unordered_map<std::string, Scores, Hash, std::equal_to<>> slices_;
};

}  // namespace leveret::metrics
