/// What `evaluate` says, of a model in one file or in shards.
#pragma once

#include <string>

#include "metrics/metrics.h"

namespace leveret::cli {

/// Lines of a name and a figure, or a line of JSON. std::runtime_error where no example had a
/// label.
std::string evaluation_text(const metrics::MetricsSnapshot& metrics, bool json);

}  // namespace leveret::cli
