/// The grammar of man/leveret-text.5 once more, slow and obvious: the oracle of the property tests.
/// It shares no code with the parser but murmur3, which has tests of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/parser.h"

namespace leveret::text {

struct ReferenceFeature {
  std::string space;
  std::uint32_t hash;
  float value;
  std::string name, string_value;
};

struct ReferenceLine {
  enum Kind { kBlank, kExample, kBad } kind = kExample;
  float label = 0, importance = 1, initial = 0;
  std::string tag;
  std::vector<ReferenceFeature> features;
};

/// `line` without its newline.
ReferenceLine reference_parse(std::string line, const ParserOptions& options);

/// The float nearest to the number that `text` is; nothing if it is no finite number.
std::optional<float> reference_number(const std::string& text);

}  // namespace leveret::text
