/// The output of `evaluate`, for a model in one file or in shards.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "metrics/metrics.h"
#include "metrics/scores.h"
#include "metrics/slices.h"

namespace leveret::cli {

/// Details beside the figures, of the same examples.
struct EvaluationDetails {
  const metrics::Scores* scores = nullptr;  ///< null: nothing
  bool intervals = false;
  bool reliability = false;
  std::string by = {};  ///< the namespace of the slices; empty: none
  std::vector<metrics::Slice> slices = {};
  std::size_t threads = 1;
  std::optional<nlohmann::ordered_json> skew = {};  ///< a member of the JSON (SkewReport::json)
};

/// Lines of a name and a figure, and tables, or a line of JSON. std::runtime_error where no example
/// had a label.
std::string evaluation_text(const metrics::MetricsSnapshot& metrics, bool json,
                            const EvaluationDetails& details = {});

}  // namespace leveret::cli
