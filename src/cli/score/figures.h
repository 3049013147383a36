/// How figures of models are written, in tables and in JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "metrics/scores.h"

namespace leveret::cli {

/// Six decimals; "-" where there is no value. In JSON: metrics::rounded.
std::string figure_text(double value);
/// The same, with its sign.
std::string difference_text(double value);
/// "-0.0021 .. -0.0003"; an array of both.
std::string interval_text(const metrics::Interval& interval);
/// The same of a figure, which has no sign.
std::string range_text(const metrics::Interval& interval);
nlohmann::ordered_json interval_json(const metrics::Interval& interval);

/// The object in a line. Names come from data and may be no UTF-8, which JSON has to be.
std::string json_line(const nlohmann::ordered_json& json);

/// A name of data for a column of `width` bytes: what is not printable ASCII is escaped, and what
/// is too long ends with "~".
std::string cut(const std::string& name, std::size_t width);

}  // namespace leveret::cli
