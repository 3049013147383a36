/// Conditions that a model must meet before it is published: "FILE: ne < 0.8, calibration 0.9..1.1,
/// not_worse".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/model_file.h"

namespace leveret::publish {

/// The metric of conditions that compare with the newest step.
inline constexpr const char* kDifference = "logloss_difference";

/// One condition of a gate.
struct Limit {
  enum class Kind : std::uint8_t {
    kRange,
    // By the difference of the logloss from that of the newest step, as `leveret compare` tells.
    kNotWorse,
    kBetter,
  };
  Kind kind = Kind::kRange;
  std::string metric;  ///< as `leveret evaluate` calls it
  std::string text;    ///< behind the metric, as it was written: "< 0.8"
  double low, high;    ///< -inf, +inf: none
  bool low_is_in = true, high_is_in = true;

  /// Whether the value lies in the range. Never for a NaN.
  bool holds(double value) const {
    return (low_is_in ? value >= low : value > low) && (high_is_in ? value <= high : value < high);
  }
};

struct Gate {
  std::string file;  ///< labelled VW lines, plain, gzip or zstd
  std::vector<Limit> limits;
};

/// FILE, a colon and a space, conditions separated by commas: METRIC <|<=|>|>= NUMBER, or METRIC
/// LOW..HIGH with both of them in, or "not_worse" or "better" than the newest step. The last such
/// colon counts, as names may have some. std::runtime_error says what is wrong with it.
Gate parse_gate(std::string_view text);

/// A condition and what was measured.
struct Measured {
  std::string file, metric, limit;
  double value;
  bool holds;
  bool is_told = true;  ///< false: too few examples compare two models (metrics::are_enough)
};

/// Its value, for people.
std::string value_text(const Measured& measured);

/// Scores the files of all gates with a model, and measures as `leveret evaluate` does, in the
/// order of the gates, what compares with the newest step behind the others. `newest` is the file
/// of the step before it; null: there is none, and the model is not worse than that, and better.
/// Nothing is learned. A metric that has no value (NaN) holds no limit; where a prediction is not
/// finite none of the file's do. std::runtime_error where a file cannot be read, has no labelled
/// example, or more bad lines than `evaluate` allows without
/// --bad_lines.
std::vector<Measured> measure(const std::vector<Gate>& gates, const std::string& model,
                              const store::ModelFile* newest, unsigned threads);

}  // namespace leveret::publish
