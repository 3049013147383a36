#include "text/label.h"

#include <array>
#include <cmath>

#include "text/example.h"
#include "text/number.h"

namespace leveret::text {
namespace {

constexpr std::size_t kMaxLabelTokens = 3;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Moves `at` past the next token and returns it; empty at the end of the section.
std::string_view next_token(std::string_view section, std::size_t& at) {
  while (at < section.size() && is_blank(section[at])) ++at;
  const std::size_t begin = at;
  while (at < section.size() && !is_blank(section[at])) ++at;
  return section.substr(begin, at - begin);
}

/// Null if `token` gives a value for position `index` of the label section.
const char* set_label_token(std::size_t index, std::string_view token, LabelSection& out) {
  static constexpr std::array<const char*, kMaxLabelTokens> kNotANumber = {
      "label is not a number", "importance is not a number", "initial prediction is not a number"};
  float value;
  if (parse_number(token, value) != NumberStatus::kOk) return kNotANumber[index];
  if (index == 0) {
    if (value != 0 && std::abs(value) != 1) return kNoClick;
    out.label = value == 1 ? 1.0f : -1.0f;
  } else if (index == 1) {
    if (value < 0) return "importance is negative";
    if (value > kMaxImportance) return "importance is above 1e12";
    out.importance = value + 0.0f;  // -0 becomes 0
  } else {
    out.initial = value;
  }
  return nullptr;
}

void set_tag(std::string_view section, std::string_view token, LabelSection& out) {
  if (token.front() == '\'') token.remove_prefix(1);
  out.tag_begin = static_cast<std::uint32_t>(token.data() - section.data());
  out.tag_size = static_cast<std::uint32_t>(token.size());
}

}  // namespace

bool has_shared_label(std::string_view line) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  if (!line.starts_with(kSharedLabel)) return false;
  line.remove_prefix(kSharedLabel.size());
  return line.empty() || line.front() == '|' || is_blank(line.front());
}

LabelSection parse_label_section(std::string_view section, bool bar_follows) {
  LabelSection out;
  std::size_t at = 0;
  std::string_view token = next_token(section, at);
  out.empty = token.empty();
  for (std::size_t index = 0; !token.empty(); ++index) {
    const std::size_t end = at;
    const std::string_view next = next_token(section, at);
    const bool touches_bar = bar_follows && end == section.size();
    if (next.empty() && (touches_bar || token.front() == '\'')) {
      set_tag(section, token, out);
      return out;
    }
    out.what = index < kMaxLabelTokens ? set_label_token(index, token, out)
                                       : "more than three tokens before the tag";
    if (out.what) {
      out.fault = static_cast<std::uint32_t>(token.data() - section.data());
      return out;
    }
    token = next;
  }
  return out;
}

}  // namespace leveret::text
