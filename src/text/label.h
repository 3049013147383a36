/// The label section of a line: `[label [importance [initial]]] [tag]`, before the first `|`.
#pragma once

#include <cstdint>
#include <string_view>

namespace leveret::text {

struct LabelSection {
  float label = 0;  ///< +1, -1, or 0: none
  float importance = 1;
  float initial = 0;
  std::uint32_t tag_begin = 0;  ///< offset in the section
  std::uint32_t tag_size = 0;
  bool empty = true;  ///< nothing but white space
  /// Null, or static text that says what is wrong at byte `fault` of the section.
  const char* what = nullptr;
  std::uint32_t fault = 0;
};

/// The fault of a label that is a number, but none of a click: this very array.
inline constexpr char kNoClick[] = "label is not -1, 0 or 1";

/// VW's word for the context of a request, in place of its label.
inline constexpr std::string_view kSharedLabel = "shared";
/// Whether the line, good or bad, has it.
bool has_shared_label(std::string_view line);

/// `bar_follows`: the section ends at a `|`, so a last token that reaches its end is the tag.
LabelSection parse_label_section(std::string_view section, bool bar_follows);

}  // namespace leveret::text
