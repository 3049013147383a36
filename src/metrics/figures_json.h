/// Figures as members of objects of JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "metrics/metrics.h"

namespace leveret::metrics {

/// Six decimals, so that the text does not change with the order of additions; null for what has no
/// value.
nlohmann::ordered_json rounded(double value);

/// Appends examples, logloss, auc, ne, rig, calibration, base_rate, mean_prediction, mean_label.
void put_figures(nlohmann::ordered_json& json, const MetricsSnapshot& snapshot);
/// Appends not_finite, where there were any.
void put_not_finite(nlohmann::ordered_json& json, const MetricsSnapshot& snapshot);

/// The object that metrics_json writes.
nlohmann::ordered_json figures_json(const MetricsSnapshot& snapshot, bool exact_auc);

}  // namespace leveret::metrics
