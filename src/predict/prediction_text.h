/// Predictions as the lines that people and programs read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "predict/outcome.h"
#include "text/example.h"

namespace leveret::predict {

/// "0.123456", or "nan".
void append_number(std::string& to, float number);
/// The same, then " tag" if there is one, then the line end.
void append_prediction(std::string& to, float number, std::string_view tag);

/// The answer to a line that is not scored: an empty line, "nan", or nothing.
void append_unscored(std::string& to, LineAnswer answer);

/// The usual answer of each line of a chunk: an example is scored.
std::vector<LineAnswer> answers_of(const text::ExampleChunk& chunk);

}  // namespace leveret::predict
