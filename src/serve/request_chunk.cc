#include "serve/request_chunk.h"

#include <fmt/format.h>

#include <cmath>

namespace leveret::serve {

std::string about(const text::BadLine& bad) {
  return fmt::format("line {}, column {}: {}", bad.line, bad.column, bad.what);
}

void check_lines(const text::ExampleChunk& chunk) {
  if (!chunk.bad.empty()) throw BadLine(about(chunk.bad[0]));
  if (chunk.blank_lines == 0) return;
  std::uint64_t line = 1;
  for (const text::Example& example : chunk.examples) line += example.line == line;
  throw BadLine(fmt::format("line {} is blank", line));
}

void need_arrays(const text::ParserOptions& parser) {
  if (parser.numbers.empty()) return;
  throw BadArgument(
      fmt::format("the model reads the number of namespace {} (--transform or --numeric), which "
                  "only lines of text have",
                  parser.numbers[0]));
}

void append_example(std::span<const leveret_feature> features,
                    const std::function<Space(std::uint32_t)>& space_of, text::ExampleChunk& to) {
  if (features.size() > text::Parser::kMaxChunk - to.features.size()) {
    throw BadArgument("more than 2^32 features");
  }
  const std::size_t before = to.features.size();
  text::Example example{};
  example.importance = 1;
  example.line = to.first_line + to.examples.size();
  example.runs_begin = static_cast<std::uint32_t>(to.runs.size());
  for (std::size_t i = 0; i < features.size();) {
    const std::uint32_t number = features[i].space;
    const Space of = space_of(number);
    const auto begin = static_cast<std::uint32_t>(to.features.size());
    for (; i < features.size() && features[i].space == number; ++i) {
      if (!std::isfinite(features[i].value)) {
        throw BadArgument(fmt::format("the value of feature {} is not finite", i));
      }
      if (features[i].value != 0) to.features.push_back({features[i].hash, features[i].value});
    }
    const auto end = static_cast<std::uint32_t>(to.features.size());
    if (begin < end) to.runs.push_back({of.name, of.hash, begin, end});
  }
  example.runs_end = static_cast<std::uint32_t>(to.runs.size());
  if (to.features.size() - before > text::kMaxFeatures) {
    throw BadArgument(fmt::format("array {} has {} features, more than {}", example.line - 1,
                                  to.features.size() - before, text::kMaxFeatures));
  }
  to.examples.push_back(example);
}

}  // namespace leveret::serve
