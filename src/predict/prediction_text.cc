#include "predict/prediction_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace leveret::predict {

void append_number(std::string& to, float number) {
  if (std::isnan(number)) {
    to += "nan";  // whatever its sign is
  } else {
    fmt::format_to(std::back_inserter(to), "{:.6f}", number);
  }
}

void append_prediction(std::string& to, float number, std::string_view tag) {
  append_number(to, number);
  if (!tag.empty()) {
    to += ' ';
    to += tag;
  }
  to += '\n';
}

void append_unscored(std::string& to, LineAnswer answer) {
  if (answer == LineAnswer::kBad) to += "nan\n";
  if (answer == LineAnswer::kEmpty) to += '\n';
}

std::vector<LineAnswer> answers_of(const text::ExampleChunk& chunk) {
  std::vector<LineAnswer> lines(chunk.lines(), LineAnswer::kEmpty);
  for (const text::Example& example : chunk.examples) {
    lines[example.line - chunk.first_line] = LineAnswer::kScored;
  }
  for (const text::BadLine& bad : chunk.bad) lines[bad.line - chunk.first_line] = LineAnswer::kBad;
  return lines;
}

}  // namespace leveret::predict
