/// Namespace selectors of --ignore, --keep, --linear, --field and --interactions.
///
/// A selector is a full name. One of a single byte that is nobody's full name selects by first
/// byte, as VW's options do; ":" selects every namespace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leveret::feature {

/// True when `selector` picks the namespace `name`. `exact_known` says whether a namespace whose
/// whole name is the selector has been met: then first-byte matching is off.
bool selects(std::string_view selector, std::string_view name, bool exact_known);

/// Splits at each `at`; parts may be empty, and there is one more of them than of these.
std::vector<std::string> split(std::string_view text, char at);

/// Splits at commas; empty parts are dropped.
std::vector<std::string> split_list(std::string_view text);

/// One interaction: two or three selectors. Accepts `A*B`, `A*B*C`, and VW's letters `ab`, `abc`,
/// `::`. Throws std::runtime_error naming the text when it is neither.
std::vector<std::string> parse_interaction(std::string_view text);

}  // namespace leveret::feature
