/// The texts behind a colon: weights of namespaces, values of features. As in VW, a colon looks
/// for its number behind spaces, for its string behind tabs, too.
#include <cmath>

#include "text/line_parser.h"

namespace leveret::text {

/// From a cursor at the delimiter behind `begin`: steps over the spaces that begin there, with
/// `tabs` over tabs, too, to the delimiter behind what follows them; returns where that begins.
std::uint32_t Parser::LineParser::pass_blanks(std::uint32_t begin, bool tabs) {
  while (cursor_.position() == begin && (delimiter() == ' ' || (tabs && delimiter() == '\t'))) {
    ++begin;
    cursor_.advance();
  }
  return begin;
}

bool Parser::LineParser::parse_weight(std::uint32_t name_size, float& weight) {
  const std::uint32_t colon = cursor_.position();
  if (name_size == 0) return fail("namespace weight without a namespace name", colon);
  cursor_.advance();
  const std::uint32_t begin = pass_blanks(colon + 1, false);
  const std::string_view text = view(begin, token_end());
  const NumberStatus status = parse_number(text, weight);
  if (status == NumberStatus::kNotANumber) {
    return fail("namespace weight is NaN or infinite", begin);
  }
  if (status == NumberStatus::kOutOfRange) {
    return fail("namespace weight is too large for a float", begin);
  }
  if (status == NumberStatus::kMalformed || delimiter() == ':') {
    return fail("namespace weight is not a number", begin);
  }
  return true;
}

bool Parser::LineParser::parse_value(Namespace& space, std::uint32_t name_begin,
                                     std::uint32_t name_size) {
  const std::uint32_t colon = cursor_.position();
  cursor_.advance();
  const std::uint32_t begin = pass_blanks(colon + 1, false);
  const std::string_view text = view(begin, token_end());
  if (begin > colon + 1 && text.empty() && (delimiter() == '\t' || at_line_end())) {
    // VW reads spaces alone as the number 0.
    if (name_size == 0) ++space.next_anonymous;
    return true;
  }
  if (text.empty() && delimiter() == '\t') {
    add_string_value(space, {name_begin, name_size, pass_blanks(begin, true), 0});
    return true;
  }
  if (!looks_like_number(text)) {
    add_string_value(space, {name_begin, name_size, begin, 0});
    return true;
  }
  float value = 0;
  const NumberStatus status = parse_number(text, value);
  if (status == NumberStatus::kMalformed || delimiter() == ':') {
    return fail("value is not a number", begin);
  }
  if (status == NumberStatus::kNotANumber) return fail("value is NaN or infinite", begin);
  value *= space.weight;
  if (status == NumberStatus::kOutOfRange || std::isinf(value)) {
    return fail("value is too large for a float", begin);
  }
  const std::uint32_t code = name_size == 0 ? space.hash + space.next_anonymous++
                                            : hash(name_begin, name_begin + name_size, space.hash);
  add({code, value}, {name_begin, name_size, 0, 0});
  return true;
}

/// `name:text` with text that is no number, or stands behind a tab: it runs to the next white
/// space, and neither `|` nor `:` ends it. The namespace's weight does not apply. `name:` is
/// `name`, `:` is anonymous.
void Parser::LineParser::add_string_value(Namespace& space, FeatureName text) {
  while (delimiter() == '|' || delimiter() == ':') cursor_.advance();
  text.value_size = token_end() - text.value_begin;
  const std::string_view name = view(text.name_begin, text.name_begin + text.name_size);
  const std::string_view value = view(text.value_begin, text.value_begin + text.value_size);
  std::uint32_t hash;
  if (name.empty() && value.empty()) {
    hash = space.hash + space.next_anonymous++;
  } else {
    hash = hash_name(name, space.hash, options_.hash);
    if (!value.empty()) hash = hash_name(value, hash, options_.hash);
  }
  if (value.empty()) text.value_begin = 0;
  add({hash, 1.0f}, text);
}

}  // namespace leveret::text
